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
	"github.com/stretchr/testify/require"
)

// Over HTTP/2, 100 watches share a connection. Over HTTP/1.1, each watch needs its own connection.
func TestManyWatches(t *testing.T) {
	const watches = 150
	for name, c := range map[string]struct {
		config *tls.Config
		atOnce bool
		want   int // expected number of connections
		proto  string
	}{
		"HTTP/2, sequential":   {&tls.Config{}, false, 2, "HTTP/2.0"},
		"HTTP/2, concurrent":   {&tls.Config{}, true, 2, "HTTP/2.0"},
		"HTTP/1.1, sequential": {nil, false, watches + 1, "HTTP/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			connections := counter{open: map[net.Conn]bool{}, used: map[string]int{}}
			server := serve(t, c.config, func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprintln(w, r.Proto)
				if r.URL.Query().Has("watch") {
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				}
			}, func(s *http.Server) {
				s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
				s.ConnState = connections.count
			})
			transport := connect(t, server, nil)
			open := func() {
				body, err := transport.Open(t.Context(), &lw.Request{Path: "/pods", Query: "watch=1", Watch: true})
				if err != nil {
					t.Error(err)
					return
				}
				t.Cleanup(func() { _ = body.Close() })
				line, err := bufio.NewReader(body).ReadString('\n')
				if err != nil || line != c.proto+"\n" {
					t.Error(line, err)
				}
			}
			var all sync.WaitGroup
			for range watches {
				if all.Go(open); !c.atOnce {
					all.Wait()
				}
			}
			all.Wait()
			list, err := transport.Open(t.Context(), &lw.Request{Path: "/pods"})
			require.NoError(t, err)
			_, err = io.ReadAll(list)
			require.NoError(t, err)
			require.NoError(t, list.Close())
			require.Equal(t, c.want, connections.total())
		})
	}
}

// counter counts the connections that a server accepts.
type counter struct {
	mu   sync.Mutex
	open map[net.Conn]bool
	used map[string]int // number of requests by the client's address
	ever int
}

// request records that a connection carries one more request.
func (c *counter) request(r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[r.RemoteAddr]++
}

func (c *counter) count(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open[conn] = true
		c.ever++
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ever
}

// cut closes the open connection that carries the most requests, and returns their number.
func (c *counter) cut() (requests int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var busiest net.Conn
	for conn := range c.open {
		if busiest == nil || c.used[conn.RemoteAddr().String()] > requests {
			busiest, requests = conn, c.used[conn.RemoteAddr().String()]
		}
	}
	_ = busiest.Close()
	return requests
}
