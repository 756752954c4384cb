package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// messageTimeout limits the time from a WebSocket's handshake to its last message.
const messageTimeout = 30 * time.Second

const (
	someOrigin = "https://app.example"
	configMaps = "/api/v1/namespaces/default/configmaps"
	// shortWatch matches no objects, and the server closes it after one second.
	shortWatch = configMaps + "?watch=1&labelSelector=nothing=x&timeoutSeconds=1"
)

// watched is the server under test, either the embedded server or a real server.
type watched struct {
	url                string
	tls                *tls.Config
	admin, nobody      string // bearer tokens
	expire, kill, heal func(context.Context) error
	terminate          func() error // closes all watches cleanly and stops a real server until heal restarts it
}

// TestWebSocketsOfEmbeddedServer runs the same checks as TestWebSocketsOfRealServer, because the embedded server must
// behave like kube-apiserver.
func TestWebSocketsOfEmbeddedServer(t *testing.T) {
	s, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"admin-token": true, "nobody-token": false}})
	require.NoError(t, err)
	defer s.Close()
	tryWebSockets(t, &watched{
		url: s.URL, admin: "admin-token", nobody: "nobody-token",
		expire: func(context.Context) error { s.Compact(); return nil },
		kill:   func(context.Context) error { s.Close(); return nil },
		heal:   func(context.Context) error { s.Close(); return s.Restart() },

		terminate: func() error { s.CloseWatches(); return nil },
	})
}

func TestWebSocketsOfRealServer(t *testing.T) {
	c := shared.Get(t)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(c.CAPEM))
	tryWebSockets(t, &watched{
		url: c.URL, tls: &tls.Config{RootCAs: roots}, admin: c.AdminToken, nobody: c.NobodyToken,
		expire: c.ExpireVersions,
		kill:   func(context.Context) error { c.Kill(); return nil },
		heal:   c.StartAPIServer,

		terminate: c.Terminate,
	})
}

func tryWebSockets(t *testing.T, w *watched) {
	t.Run("handshakes", func(t *testing.T) { tryHandshakes(t, w) })
	t.Run("malformed handshakes", func(t *testing.T) { tryMalformed(t, w) })
	t.Run("events", func(t *testing.T) { tryEvents(t, w) })
	t.Run("pings", func(t *testing.T) { tryPings(t, w) })
	t.Run("client closes the connection", func(t *testing.T) { tryClientCloses(t, w) })
	t.Run("expired resourceVersion", func(t *testing.T) { tryExpired(t, w) })
	t.Run("terminated server", func(t *testing.T) { tryTerminated(t, w) })
	t.Run("killed server", func(t *testing.T) { tryKilled(t, w) })
}

// dial opens a WebSocket and returns it with the handshake response. header contains alternating names and values.
func (w *watched) dial(t *testing.T, path string, header ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	for pair := range slices.Chunk(header, 2) {
		h.Add(pair[0], pair[1])
	}
	dialer := websocket.Dialer{TLSClientConfig: w.tls, EnableCompression: true} // a kube-apiserver declines compression
	conn, res, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(w.url, "http")+path, h)
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(messageTimeout)))
	}
	return conn, res, err
}

func (w *watched) open(t *testing.T, path string) *websocket.Conn {
	conn, _, err := w.dial(t, path, "Origin", someOrigin, "Authorization", "Bearer "+w.admin)
	require.NoError(t, err)
	return conn
}

// do sends a request with the admin's token over HTTP/1.1 and returns the response. It first reads the whole body into
// memory.
func (w *watched) do(t *testing.T, method, path, body string, header ...string) *http.Response {
	req, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+w.admin)
	req.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(header, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	transport := &http.Transport{TLSClientConfig: w.tls.Clone(), DisableKeepAlives: true}
	res, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	res.Body = io.NopCloser(strings.NewReader(string(text)))
	return res
}

func closed(t *testing.T, conn *websocket.Conn) {
	t.Helper()
	_, text, err := conn.ReadMessage()
	require.Equal(t, &websocket.CloseError{Code: websocket.CloseNormalClosure}, err, "%s", text)
}

// next reads an event and returns its type and the name of its object, for example "ADDED web". For an ERROR event, it
// returns the reason instead of a name.
func next(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	opcode, text, err := conn.ReadMessage()
	require.NoError(t, err)
	require.Equal(t, websocket.TextMessage, opcode)
	require.Equal(t, 1, strings.Count(string(text), "\n"))
	require.True(t, strings.HasSuffix(string(text), "\n"))
	var event struct {
		Type   string
		Object struct {
			Reason   string
			Metadata struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &event))
	return event.Type + " " + event.Object.Metadata.Name + event.Object.Reason
}

func tryEvents(t *testing.T, w *watched) {
	conn := w.open(t, configMaps+"?watch=1&labelSelector=websocket=events&timeoutSeconds=60")
	text := func(value string) string {
		return `{"metadata":{"name":"ws-events","labels":{"websocket":"events"}},"data":{"k":"` + value + `"}}`
	}
	require.Equal(t, http.StatusCreated, w.do(t, http.MethodPost, configMaps, text("a")).StatusCode)
	require.Equal(t, http.StatusOK, w.do(t, http.MethodPut, configMaps+"/ws-events", text(strings.Repeat("long ", 40_000))).StatusCode)
	require.Equal(t, http.StatusOK, w.do(t, http.MethodDelete, configMaps+"/ws-events", "").StatusCode)
	for _, want := range []string{"ADDED", "MODIFIED", "DELETED"} {
		require.Equal(t, want+" ws-events", next(t, conn))
	}
}

func tryPings(t *testing.T, w *watched) {
	conn := w.open(t, configMaps+"?watch=1&labelSelector=nothing=x&timeoutSeconds=60")
	var pongs []string
	conn.SetPongHandler(func(data string) error {
		if pongs = append(pongs, data); len(pongs) < 2 {
			return nil
		}
		goodbye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "bye")
		return conn.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(messageTimeout))
	})
	conn.SetPingHandler(func(string) error { return errors.New("the server sent a ping") })
	require.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte("ignored")))
	require.NoError(t, conn.WriteMessage(websocket.BinaryMessage, []byte("also ignored")))
	require.NoError(t, conn.WriteControl(websocket.PingMessage, []byte("one"), time.Now().Add(messageTimeout)))
	require.NoError(t, conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(messageTimeout)))
	closed(t, conn)
	require.Equal(t, []string{"one", ""}, pongs)
}

func tryClientCloses(t *testing.T, w *watched) {
	conn := w.open(t, configMaps+"?watch=1&labelSelector=nothing=x&timeoutSeconds=60")
	goodbye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "bye")
	require.NoError(t, conn.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(messageTimeout)))
	closed(t, conn) // the server responds with code 1000, not with the client's code
}

func tryExpired(t *testing.T, w *watched) {
	require.NoError(t, w.expire(t.Context()))
	conn := w.open(t, configMaps+"?watch=1&resourceVersion=1&timeoutSeconds=60")
	require.Equal(t, "ERROR Expired", next(t, conn))
	closed(t, conn)
}

func tryTerminated(t *testing.T, w *watched) {
	conn := w.open(t, configMaps+"?watch=1&labelSelector=nothing=x&timeoutSeconds=60")
	require.NoError(t, w.terminate())
	closed(t, conn)
	require.NoError(t, w.heal(t.Context()))
}

func tryKilled(t *testing.T, w *watched) {
	conn := w.open(t, configMaps+"?watch=1&labelSelector=nothing=x&timeoutSeconds=60")
	require.NoError(t, w.kill(t.Context()))
	_, text, err := conn.ReadMessage()
	require.NoError(t, w.heal(t.Context()))
	// gorilla's client may report a connection that breaks without a close message as an unexpected EOF.
	require.True(t, errors.Is(err, io.ErrUnexpectedEOF) || websocket.IsCloseError(err, websocket.CloseAbnormalClosure), "%s %v", text, err)
}
