package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNetHTTPLogIsHidden checks that lwcat hides the log of net/http, which contains unexpected response bytes.
func TestNetHTTPLogIsHidden(t *testing.T) {
	v := newSecretsFixture(t)
	secret := v.secrets.New("part of an object")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	closed := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			closed <- err
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for line, err := in.ReadString('\n'); err == nil && line != "\r\n"; line, err = in.ReadString('\n') {
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"+secret)
		_, _ = io.Copy(io.Discard, in)
		closed <- nil
	}()
	var stderr lockedBuffer
	cmd := v.command(nil, "-v", "-s", "http://"+listener.Addr().String(), "/api/v1/configmaps")
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	require.NoError(t, <-closed)
	eventually(t, "the error response", func() bool { return strings.Contains(stderr.String(), "503") })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.NotContains(t, strings.ToLower(stderr.String()), "unsolicited")
	require.NotContains(t, stderr.String(), "WARN")
	v.secrets.Absent(t, "standard error", stderr.String())
}
