package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// If a server accepts HTTP/2 connections but never serves a request, lwcat must say so, and must not open thousands of
// connections. Only lwcat everything uses HTTP/2.
func TestReportsServerThatServesNoRequest(t *testing.T) {
	const (
		settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
		goAway   = "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	)
	for name, c := range map[string]struct{ greeting, answer string }{
		"GOAWAY when it accepts a connection": {settings + goAway, ""},
		"GOAWAY before the response":          {settings, goAway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serveNothing(t, c.greeting, c.answer)
			code, out, errs := lwcat(t, "-s", server.url, "--insecure-skip-tls-verify", "everything")
			require.Equal(t, exitError, code)
			require.Empty(t, out)
			require.Contains(t, errs, "the server accepted HTTP/2 connections but did not serve the request")
			require.Less(t, server.accepted.Load(), int32(100))
		})
	}
}

// uselessServer is a TLS server that sends the same frames on each HTTP/2 connection.
type uselessServer struct {
	url      string
	accepted atomic.Int32
}

// serveNothing starts a server that sends greeting when it accepts a connection, and answer after each request.
func serveNothing(t *testing.T, greeting, answer string) *uselessServer {
	other := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: other.TLS.Certificates, NextProtos: []string{"h2"}}
	other.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	server := &uselessServer{url: "https://" + listener.Addr().String()}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server.accepted.Add(1)
			running.Go(func() {
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				sendOnly(conn, greeting, answer)
			})
		}
	})
	t.Cleanup(func() {
		stop()
		_ = listener.Close()
		running.Wait()
	})
	return server
}

// sendOnly sends greeting, and then answer after each HEADERS frame, until the client closes the connection.
func sendOnly(conn net.Conn, greeting, answer string) {
	if _, err := io.WriteString(conn, greeting); err != nil {
		return
	}
	if _, err := io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	for header := make([]byte, 9); ; {
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(header[0])<<16|int64(header[1])<<8|int64(header[2])); err != nil {
			return
		}
		const headers = 1
		if header[3] != headers {
			continue
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
}

// HTTP/1.1 takes less CPU time, but the hundreds of watches of lwcat everything share HTTP/2 connections.
func TestOnlyEverythingUsesHTTP2(t *testing.T) {
	for _, name := range []string{"pods", "everything"} {
		var http1, http2 atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 2 {
				http2.Add(1)
			} else {
				http1.Add(1)
			}
			w.WriteHeader(http.StatusForbidden)
		}))
		server.EnableHTTP2 = true
		server.StartTLS()
		code, _, _ := lwcat(t, "-s", server.URL, "--insecure-skip-tls-verify", name)
		server.Close()
		require.Equal(t, exitError, code)
		require.Equal(t, []bool{name == "pods", name == "everything"}, []bool{http1.Load() > 0, http2.Load() > 0}, name)
	}
}
