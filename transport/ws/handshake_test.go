//go:build !js

package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/stretchr/testify/require"
)

func TestInvalidHandshakes(t *testing.T) {
	for name, header := range map[string]http.Header{
		"wrong key":      {accept: {"AAAAAAAAAAAAAAAAAAAAAAAAAAA="}},
		"no key":         {accept: nil},
		"wrong protocol": {"Upgrade": {"h2c"}},
		"no upgrade":     {"Connection": {"close"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t.Context(), t, &scriptedConn{step: 100}, header, 1<<20)
			require.ErrorContains(t, err, errNotUpgraded.Error())
			require.ErrorIs(t, err, errors.ErrUnsupported)
		})
	}
}

// raw returns a transport to a server that reads the request header of each connection and then calls do.
func raw(t *testing.T, do func(net.Conn)) *transport {
	t.Helper()
	return newTransport(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		do(conn)
	})
}

func TestEndlessResponses(t *testing.T) {
	for name, c := range map[string]struct{ first, then string }{
		"endless headers":                 {"HTTP/1.1 101 Switching Protocols\r\n", "X-More: " + strings.Repeat("x", 1000) + "\r\n"},
		"endless header value":            {"HTTP/1.1 101 Switching Protocols\r\nX-More: ", strings.Repeat("x", 1000)},
		"endless status line":             {"HTTP/1.1 101 ", strings.Repeat("x", 1000)},
		"endless informational responses": {"", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before := memory.Held()
			sent, gone := 0, make(chan struct{})
			transport := raw(t, func(conn net.Conn) {
				defer close(gone)
				n, err := io.WriteString(conn, c.first)
				for sent = n; err == nil; sent += n {
					n, err = io.WriteString(conn, c.then)
				}
			})
			_, err := transport.Open(t.Context(), watch)
			require.Error(t, err)
			<-gone
			require.Less(t, sent, 32<<20, "the client must stop reading the response; the limit includes socket buffers")
			require.Less(t, int64(memory.Held())-int64(before), int64(4<<20))
		})
	}
}

// The server sends an incomplete response byte by byte. Open must return when the context is canceled.
func TestSlowHandshakeResponse(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	transport := raw(t, func(conn net.Conn) {
		for _, b := range []byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: webso") {
			_, _ = conn.Write([]byte{b})
		}
		cancel(enough)
		_, _ = conn.Read(make([]byte, 1)) // blocks until the client disconnects
	})
	_, err := transport.Open(ctx, watch)
	require.Equal(t, enough, err)
}

func TestFramesWithHandshakeResponse(t *testing.T) {
	transport := newTransport(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		defer conn.Close()
		answer, _ := (answering{}).RoundTrip(r)
		answer.Header.Set("Content-Length", "5") // a 101 response has no body, so the client must ignore this header
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\n")
		_ = answer.Header.Write(conn)
		_, _ = io.WriteString(conn, "\r\n"+frame(0x81, "one")+frame(0x81, "two")+frame(0x88, "\x03\xe8"))
		_, _ = io.Copy(io.Discard, conn)
	})
	text, err := read(t, transport)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo", text)
}
