//go:build !js

package http_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The test starts 1,000 watches at the same time over HTTP/2, breaks a connection, and restarts its watches. A
// connection carries 100 streams, so 10 connections are necessary and at most 20 are allowed.
func TestStreamsDialFewConnections(t *testing.T) {
	const watches, streams = 1000, 100
	connections := counter{open: map[net.Conn]bool{}}
	server := serve(t, &tls.Config{}, func(w http.ResponseWriter, r *http.Request) {
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
	require.LessOrEqual(t, dialed, 2*watches/streams)

	connections.cut()
	broken := 0
	for range streams { // the closed connection carried the maximum number of watches, and all of them end
		<-ended
		broken++
	}
	open(broken)
	require.LessOrEqual(t, connections.total()-dialed, 2)
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
