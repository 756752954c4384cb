package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server accepts HTTP/2 connections but never serves a request. lwcat must report each failure and wait before it
// retries; otherwise it would open thousands of connections per second.
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
			flags := []string{"-s", server.url, "--insecure-skip-tls-verify"}
			const message = "the server accepted HTTP/2 connections but did not serve the request"
			r := follow(t, "", append(flags, "/api/v1/pods")...)
			eventually(t, "the reported interruptions", func() bool {
				require.Less(t, server.accepted.Load(), int32(100))
				return strings.Count(r.errs.String(), message) >= 2
			})
			r.stop()
			require.Empty(t, r.out.String())
			code, _, errs := lwcat(t, append(flags, "pods")...) // the request for the server's resources fails
			require.Equal(t, exitError, code)
			require.Contains(t, errs, message)
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
