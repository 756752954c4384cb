package lwtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

func TestWebSocketLifecycles(t *testing.T) {
	closed := func(err error) bool {
		return reflect.DeepEqual(err, &websocket.CloseError{Code: websocket.CloseNormalClosure})
	}
	tests := map[string]struct {
		end func(s *Server)
		is  func(error) bool
	}{
		"watch closed":               {(*Server).CloseWatches, closed},
		"watch closed while stalled": {func(s *Server) { s.StallWatches(true); s.CloseWatches() }, closed},
		"connection dropped":         {(*Server).DropConnections, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		"server stopped":             {(*Server).Close, cut},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			fill(t, s, 2)
			conn := openSocket(t, s.URL+watchConfigMaps)
			expectEvents(t, conn, "ADDED cm-1", "ADDED cm-2")
			put(t, s, configMap("cm-3", strings.Repeat("long", 50_000)))
			require.NoError(t, s.Delete("configmaps", "t", "cm-1"))
			expectEvents(t, conn, "ADDED cm-3", "DELETED cm-1")
			test.end(s)
			err := endOf(t, conn)
			require.True(t, test.is(err), "%v", err)
			require.Len(t, s.Requests(Watches), 1)
		})
	}
}

func TestWebSocketEndsWith1000(t *testing.T) {
	const short = watchConfigMaps + "&timeoutSeconds=1"
	t.Run("watch timeout", func(t *testing.T) {
		requireClosed(t, websocket.CloseNormalClosure, openSocket(t, start(t, nil).URL+short))
	})
	t.Run("expired resourceVersion", func(t *testing.T) {
		s := start(t, nil)
		fill(t, s, 2)
		s.Compact()
		conn := openSocket(t, s.URL+watchConfigMaps+"&resourceVersion=1")
		_, text, err := conn.ReadMessage()
		require.NoError(t, err)
		require.Contains(t, string(text), `{"type":"ERROR","object":{"kind":"Status"`)
		require.Contains(t, string(text), `"reason":"Expired","code":410}`)
		requireClosed(t, websocket.CloseNormalClosure, conn)
	})
	t.Run("slow reader", func(t *testing.T) {
		s := start(t, nil)
		s.StallWatches(true) // a stalled watch falls behind like a watch with a slow reader
		conn := openSocket(t, s.URL+watchConfigMaps)
		fill(t, s, 3)
		s.Compact()
		s.StallWatches(false)
		requireClosed(t, websocket.CloseNormalClosure, conn)
	})
	t.Run("close frame from the client", func(t *testing.T) {
		conn := openSocket(t, start(t, nil).URL+watchConfigMaps)
		goodbye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "bye")
		require.NoError(t, conn.WriteControl(websocket.CloseMessage, goodbye, time.Time{}))
		requireClosed(t, websocket.CloseNormalClosure, conn)
	})
}

func TestPingsAreAnsweredUnlessStalled(t *testing.T) {
	s := start(t, nil)
	conn := openSocket(t, s.URL+watchConfigMaps)
	pongs := make(chan string, 9)
	conn.SetPongHandler(func(data string) error { pongs <- data; return nil })
	end := make(chan error, 1)
	go func() {
		_, _, err := conn.ReadMessage()
		end <- err
	}()
	ping := func(data string) {
		require.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte("ignored")))
		require.NoError(t, conn.WriteControl(websocket.PingMessage, []byte(data), time.Time{}))
	}
	ping("one")
	select {
	case data := <-pongs:
		require.Equal(t, "one", data)
	case err := <-end:
		require.NoError(t, err)
	}
	s.StallWatches(true)
	ping("lost")
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	require.NoError(t, conn.WriteControl(websocket.CloseMessage, goodbye, time.Time{}))
	require.True(t, cut(<-end), "the server must drop the connection without a CLOSE frame")
	require.Empty(t, pongs)
}

func TestReleasesClosedWebSockets(t *testing.T) {
	for name, leave := range map[string]func(*websocket.Conn) error{
		"without a close frame": (*websocket.Conn).Close,
		"with a close frame": func(c *websocket.Conn) error {
			return c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Time{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			s.StallWatches(true)
			conn := openSocket(t, s.URL+watchConfigMaps)
			require.Len(t, s.underWay(), 1)
			require.NoError(t, leave(conn))
			requireEventually(t, "the watch must end", func() bool { return len(s.underWay()) == 0 })
		})
	}
}

// narrow is a listener whose connections have a small send buffer.
type narrow struct {
	net.Listener
	full chan struct{} // closed before a write that will block
}

func (n *narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(4096)
	}
	return &narrowConn{conn, n.full}, err
}

type narrowConn struct {
	net.Conn
	full chan struct{}
}

func (c *narrowConn) Write(p []byte) (int, error) {
	if len(p) > 1<<19 { // only the object of 1 MiB is so large, and the server writes it as one frame
		close(c.full)
	}
	return c.Conn.Write(p)
}

func TestBlockedReadersDoNotDelayOthers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	network := &narrow{listener, make(chan struct{})}
	s := start(t, &Options{Listener: network})
	put(t, s, configMap("cm-1", strings.Repeat("x", 1<<20)))
	openSocket(t, s.URL+watchConfigMaps)
	<-network.full
	s.CloseWatches() // unread data fills the connection, so the CLOSE frame cannot be sent
	s.Close()
	require.Empty(t, s.underWay())
}

func TestWebSocketsBehindAnotherListener(t *testing.T) {
	s := start(t, nil)
	front := httptest.NewServer(s)
	defer front.Close()
	fill(t, s, 1)
	conn := openSocket(t, front.URL+watchConfigMaps)
	expectEvents(t, conn, "ADDED cm-1")
	s.DropConnections()
	require.ErrorIs(t, endOf(t, conn), syscall.ECONNRESET)
	conn = openSocket(t, front.URL+watchConfigMaps)
	expectEvents(t, conn, "ADDED cm-1")
	s.Close()
	require.True(t, cut(endOf(t, conn)))
}

// Close must also wait for a connection that opens during the call.
func TestWebSocketsOpenedDuringStopAreClosed(t *testing.T) {
	s := start(t, nil)
	front := httptest.NewServer(s)
	defer front.Close()
	fill(t, s, 1)
	stopped := make(chan struct{})
	s.Fail(Watches, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		go func() {
			s.Close()
			close(stopped)
		}()
		<-r.Context().Done()
		next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context()))) // hides the cancellation of the request from the handler
	})
	require.True(t, cut(endOf(t, openSocket(t, front.URL+watchConfigMaps))))
	<-stopped
	require.Empty(t, s.underWay())
}
