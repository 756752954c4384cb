//go:build !js

package ws

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

var watch = &lw.Request{Path: "/api/v1/pods", Query: "watch=1", Watch: true}

// newTransport starts a server with this handler and returns a transport to it.
func newTransport(t *testing.T, handler http.HandlerFunc) *transport {
	t.Helper()
	server := httptest.NewServer(handler)
	base, err := lwhttp.New(server.URL, &lwhttp.Options{Token: "secret"})
	require.NoError(t, err)
	t.Cleanup(func() {
		base.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return New(base).(*transport)
}

// upgraded returns a handler that accepts a WebSocket and passes it to do.
func upgraded(do func(*websocket.Conn)) http.HandlerFunc {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }, EnableCompression: true}
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		do(conn)
	}
}

// say returns a function that sends messages and then closes the WebSocket with a close code. If the code is 0, the
// function closes the connection without a close frame.
func say(code int, messages ...string) func(*websocket.Conn) {
	return func(conn *websocket.Conn) {
		for _, message := range messages {
			_ = conn.WriteMessage(websocket.TextMessage, []byte(message))
		}
		if code != 0 {
			_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Minute))
		}
	}
}

// read reads a watch to its end. It returns the received text and the final error.
func read(t *testing.T, transport *transport) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	body, err := transport.Open(ctx, watch)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), err
}

func TestMessagesAreJoined(t *testing.T) {
	text, err := read(t, newTransport(t, upgraded(say(1000, "one\n", "two", "", strings.Repeat("long", 100_000)))))
	require.NoError(t, err)
	require.Equal(t, "one\n\ntwo\n\n"+strings.Repeat("long", 100_000), text)
}

func TestWatchErrors(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*websocket.Conn)
		want error
	}{
		"going away":     {say(1001, "x"), &closeError{Code: 1001}},
		"internal error": {say(1011, "x"), &closeError{Code: 1011}},
		"no close frame": {say(0, "x"), io.ErrUnexpectedEOF},
		"empty close frame": {func(conn *websocket.Conn) {
			_ = conn.WriteMessage(websocket.BinaryMessage, []byte("x"))
			_ = conn.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Minute))
		}, &closeError{Code: 1005}},
		"truncated frame": {func(conn *websocket.Conn) {
			_ = conn.WriteMessage(websocket.TextMessage, []byte("x"))
			_, _ = conn.NetConn().Write([]byte{0x81, 10, 'h', 'a'})
		}, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := read(t, newTransport(t, upgraded(c.do)))
			require.True(t, strings.HasPrefix(text, "x"), text)
			require.Equal(t, c.want, err)
		})
	}
	require.EqualError(t, &closeError{Code: 1011, Reason: "etcd"}, "the server closed the WebSocket with code 1011: etcd")
}

func TestConnectionReset(t *testing.T) {
	_, err := read(t, newTransport(t, upgraded(func(conn *websocket.Conn) {
		_ = conn.NetConn().(*net.TCPConn).SetLinger(0)
	})))
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF)
}

// A ping between the fragments of a message must get a pong.
func TestFragmentsAndPings(t *testing.T) {
	answered := make(chan string, 1)
	text, err := read(t, newTransport(t, upgraded(func(conn *websocket.Conn) {
		conn.SetPongHandler(func(data string) error { answered <- data; return nil })
		frames := []byte{0x01, 2, 'o', 'n', 0x89, 2, 'h', 'i', 0x80, 1, 'e'}
		_, _ = conn.NetConn().Write(frames)
		go func() { _, _, _ = conn.ReadMessage() }()
		<-answered
		say(1000)(conn)
	})))
	require.NoError(t, err)
	require.Equal(t, "one", text)
}

func TestLargeMessages(t *testing.T) {
	heard := make(chan error, 1)
	transport := newTransport(t, upgraded(func(conn *websocket.Conn) {
		_ = conn.WriteMessage(websocket.TextMessage, []byte("small"))
		_ = conn.WriteMessage(websocket.TextMessage, make([]byte, 101))
		_, _, err := conn.ReadMessage()
		heard <- err
	}))
	transport.limit = 100
	text, err := read(t, transport)
	require.Equal(t, lw.ErrTooLarge, err)
	require.Equal(t, "small", text)
	require.True(t, websocket.IsCloseError(<-heard, websocket.CloseMessageTooBig))
}

func TestHandshake(t *testing.T) {
	var asked *http.Request
	transport := newTransport(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r
		upgraded(say(1000))(w, r)
	})
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/api/v1/pods", Query: "watch=1", Accept: "application/json;as=X", Watch: true})
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Equal(t, "/api/v1/pods?watch=1", asked.URL.String())
	require.Equal(t, "Bearer secret", asked.Header.Get("Authorization"))
	require.Equal(t, "application/json;as=X", asked.Header.Get("Accept"))
	require.Equal(t, "http://"+asked.Host, asked.Header.Get("Origin"))
	require.Empty(t, asked.Header.Get("Sec-WebSocket-Extensions"), "the client must not offer compression")
}

func TestErrorResponses(t *testing.T) {
	for code, want := range map[int]error{401: lw.ErrUnauthorized, 403: lw.ErrForbidden, 404: lw.ErrNotFound, 410: lw.ErrExpired, 429: lw.ErrTooManyRequests} {
		_, err := read(t, newTransport(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","code":%d,"message":"because","details":{"retryAfterSeconds":7}}`, code)
		}))
		require.ErrorIs(t, err, want)
		status, ok := errors.AsType[*lw.StatusError](err)
		require.True(t, ok)
		require.Equal(t, 7*time.Second, status.RetryAfter)
	}
	_, err := read(t, newTransport(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"kind":"PodList"}`) }))
	require.ErrorContains(t, err, "does not support the requested protocol")
}

func TestLists(t *testing.T) {
	transport := newTransport(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Upgrade")+"list") })
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/api/v1/pods"})
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Equal(t, "list", string(text))
}

func TestCancellationEndsRequest(t *testing.T) {
	enough := errors.New("enough")
	asked := make(chan struct{})
	transport := newTransport(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-asked; cancel(enough) }()
	_, err := transport.Open(ctx, watch)
	require.Equal(t, enough, err)

	transport = newTransport(t, upgraded(func(conn *websocket.Conn) {
		say(0, "one")(conn)
		_, _, _ = conn.ReadMessage() // blocks until the client disconnects
	}))
	ctx, cancel = context.WithCancelCause(t.Context())
	body, err := transport.Open(ctx, watch)
	require.NoError(t, err)
	defer body.Close()
	lines := bufio.NewReader(body)
	one := make([]byte, 3)
	_, err = io.ReadFull(lines, one)
	require.NoError(t, err)
	cancel(enough)
	_, err = lines.ReadByte()
	require.Equal(t, enough, err)
}

func TestCloseTwice(t *testing.T) {
	transport := newTransport(t, upgraded(func(conn *websocket.Conn) { _, _, _ = conn.ReadMessage() }))
	body, err := transport.Open(t.Context(), watch)
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := body.Read(make([]byte, 1))
		done <- err
	}()
	require.NoError(t, body.Close())
	_ = body.Close()
	require.Error(t, <-done)
}

func TestProtobufWatchesUseHTTP(t *testing.T) {
	transport := newTransport(t, func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header.Get("Upgrade"))
		_, _ = w.Write([]byte{0, 0, 0, 1, '\n'})
	})
	body, err := transport.Open(t.Context(), &lw.Request{Path: watch.Path, Query: watch.Query, Accept: "application/vnd.kubernetes.protobuf", Watch: true})
	require.NoError(t, err)
	defer body.Close()
	data, err := io.ReadAll(body)
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 1, '\n'}, data)
}
