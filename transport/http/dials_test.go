//go:build !js

package http_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The test starts 1,000 watches at the same time over HTTP/2, breaks one connection, and restarts the watches that used
// it. The test allows twice the necessary number of connections, because net/http may dial too often. Until net/http
// knows the server's limit of streams per connection, it assumes 100, so a server with a lower limit refuses many
// streams.
func TestStreamsDialFewConnections(t *testing.T) {
	for _, streams := range []int{10, 100, 1000} {
		t.Run(fmt.Sprint(streams), func(t *testing.T) { testStreamsDialFewConnections(t, 1000, streams) })
	}
}

func testStreamsDialFewConnections(t *testing.T, watches, streams int) {
	connections := counter{open: map[net.Conn]bool{}, used: map[string]int{}}
	server := serve(t, &tls.Config{}, func(w http.ResponseWriter, r *http.Request) {
		connections.request(r)
		_, _ = io.WriteString(w, "live\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, func(s *http.Server) {
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
		s.ConnState = connections.count
	})
	transport := connect(t, server, nil)
	ended := make(chan struct{}, watches)
	var bodies sync.WaitGroup
	open := func(n int) {
		var live sync.WaitGroup
		for range n {
			live.Go(func() {
				body := openWatch(t, transport)
				bodies.Go(func() {
					_, _ = io.Copy(io.Discard, body)
					_ = body.Close()
					ended <- struct{}{}
				})
			})
		}
		live.Wait()
	}
	open(watches)
	dialed := connections.total()
	// Until the server's SETTINGS frame arrives, a client assumes 100 streams per connection. So on a busy machine it may
	// dial again although one connection could carry all watches.
	require.LessOrEqual(t, dialed, max(2*watches/streams, watches/100))

	broken := connections.cut()
	for range broken {
		<-ended
	}
	open(broken)
	require.LessOrEqual(t, connections.total()-dialed, max(2, broken/100))
	server.CloseClientConnections()
	bodies.Wait()
}

// openWatch opens a watch and reads its first line.
func openWatch(t *testing.T, transport *lwhttp.Transport) io.ReadCloser {
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/pods", Query: "watch=1", Watch: true})
	if err != nil {
		t.Error(err)
		return http.NoBody
	}
	if line, err := bufio.NewReader(body).ReadString('\n'); err != nil || line != "live\n" {
		t.Error(line, err)
	}
	return body
}
