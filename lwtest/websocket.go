package lwtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// errClientLeft is the cancellation cause of a watch whose client closed the WebSocket.
var errClientLeft = errors.New("lwtest: the client closed the connection")

func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		slices.ContainsFunc(r.Header["Connection"], func(v string) bool { return strings.Contains(strings.ToLower(v), "upgrade") })
}

// serveWebSocket sends each watch event as a TEXT message. The watch ends with CLOSE 1000 and no reason; sendsClose
// documents the exceptions.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request, watch *watch) {
	conn := upgrade(w, r)
	if conn == nil {
		return
	}
	below := conn.NetConn()
	if replaced, ok := below.(*replacerConn); ok {
		below = replaced.Conn
	}
	if encrypted, ok := below.(*tls.Conn); ok {
		below = encrypted.NetConn() // closing this connection sends no TLS close_notify alert, as if the server had been killed
	}
	s.conns.Store(below, nil) // so that Close can close the connection, because net/http does not close hijacked connections
	defer s.conns.Delete(below)
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down { // Close may have run before the connection was stored
		below.Close()
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.answerPings(conn)
		cancel(errClientLeft)
	}()
	if sendMessages(ctx, conn, watch) && s.sendsClose(ctx) {
		closing := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		conn.WriteControl(websocket.CloseMessage, closing, time.Time{}) // fails only if the client is already gone
	}
	conn.Close()
	<-read
}

// sendMessages sends watch events until the watch ends. It returns false if a write fails. It writes each frame with a
// single call, because faults replace frames, and because no pong may come between the parts of a frame.
func sendMessages(ctx context.Context, conn *websocket.Conn, watch *watch) bool {
	for event := range watch.frames(ctx) {
		if _, err := conn.NetConn().Write(newFrame(websocket.TextMessage, event)); err != nil {
			return false
		}
	}
	return true
}

// answerPings reads messages until the connection is closed. It answers pings and ignores all other messages.
func (s *Server) answerPings(conn *websocket.Conn) {
	conn.SetPingHandler(func(data string) error {
		if !s.isStalled() {
			conn.WriteControl(websocket.PongMessage, []byte(data), time.Time{}) // the error can be ignored, because after a failed write the next read fails, too
		}
		return nil
	})
	conn.SetCloseHandler(func(int, string) error { return nil }) // like kube-apiserver, the server sends 1000 instead of echoing the code
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return
		}
	}
}

// sendsClose reports whether to send a CLOSE frame at the end of a watch. A dropped connection ends without one, as
// after a crash. A stalled server does not answer the CLOSE frame of a client.
func (s *Server) sendsClose(ctx context.Context) bool {
	switch context.Cause(ctx) {
	case errDropped:
		return false
	case errClientLeft:
		return !s.isStalled()
	}
	return true
}

// upgrade upgrades the request to a WebSocket. If the request is invalid, it responds like kube-apiserver and returns
// nil.
func upgrade(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	if _, err := url.ParseRequestURI(r.Header.Get("Origin")); err != nil { // also rejects the origin "null"
		refuseUpgrade(w, http.StatusForbidden)
		return nil
	}
	protocol := strings.TrimSpace(r.Header.Get("Sec-Websocket-Protocol"))
	if strings.Contains(protocol, ",") { // the client offers more than one subprotocol
		refuseUpgrade(w, http.StatusBadRequest)
		return nil
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, _ := upgrader.Upgrade(hijacker{w}, r, http.Header{"Sec-Websocket-Protocol": {protocol}}) // sends an error response itself
	return conn
}

// refuseUpgrade sends only a status line and closes the connection, as kube-apiserver does.
func refuseUpgrade(w http.ResponseWriter, code int) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(code)
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n\r\n", code, http.StatusText(code))
}
