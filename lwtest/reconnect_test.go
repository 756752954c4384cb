package lwtest

import (
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempts is the number of reconnects in each test. A race once let about one reconnect in fifty reach a server that
// was still stopping.
const attempts = 300

func TestStopRefusesImmediateReconnects(t *testing.T) {
	s := start(t, nil)
	for range attempts {
		conn, err := net.Dial("tcp", s.addr) // a plain connection is faster than an HTTP client
		require.NoError(t, err)
		_, err = io.WriteString(conn, "GET "+watchConfigMaps+" HTTP/1.1\r\nHost: a\r\n\r\n")
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 1)) // blocks until the watch opens
		require.NoError(t, err)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			s.Close()
		}()
		_, _ = io.Copy(io.Discard, conn) // reads until the connection is closed
		conn.Close()
		conn, err = net.Dial("tcp", s.addr)
		if err == nil {
			conn.Close()
		}
		require.ErrorIs(t, err, syscall.ECONNREFUSED, "the server must refuse connections during the outage")
		<-stopped
		require.NoError(t, s.Restart())
	}
}

func TestDropConnectionsAcceptsImmediateReconnects(t *testing.T) {
	s := start(t, nil)
	for i := range attempts {
		version := fmt.Sprint("&resourceVersion=", s.revision())
		w := openWatch(t, s.URL+watchConfigMaps+version)
		dropped := make(chan struct{})
		go func() {
			defer close(dropped)
			s.DropConnections()
		}()
		require.Error(t, w.end())
		w = openWatch(t, s.URL+watchConfigMaps+version)
		<-dropped
		put(t, s, configMap("cm", fmt.Sprint(i)))
		require.Equal(t, "cm", w.next().Object.Metadata.Name)
		s.CloseWatches()
		require.NoError(t, w.end())
	}
}
