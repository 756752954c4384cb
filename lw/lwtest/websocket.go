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

// errClientLeft ends a watch whose client has closed the WebSocket.
var errClientLeft = errors.New("lwtest: the client has left")

// isWebSocket says whether a request asks to become a WebSocket.
func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		slices.ContainsFunc(r.Header["Connection"], func(v string) bool { return strings.Contains(strings.ToLower(v), "upgrade") })
}

// serveWebSocket sends each event of a watch as a TEXT message. Every end but that of a dead server is a CLOSE 1000 without
// a reason.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request, watch *watch) {
	conn := upgrade(w, r)
	if conn == nil {
		return
	}
	below := conn.NetConn()
	if encrypted, ok := below.(*tls.Conn); ok {
		below = encrypted.NetConn() // who is killed says no goodbye in TLS either
	}
	s.conns.Store(below, nil) // net/http does not close it any more
	defer s.conns.Delete(below)
	if s.isDown() { // Stop may have closed all that it knew before
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
	if sendMessages(ctx, conn, watch) && s.saysGoodbye(ctx) {
		goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		conn.WriteControl(websocket.CloseMessage, goodbye, time.Time{}) // who does not get it is gone already
	}
	conn.Close()
	<-read
}

// sendMessages sends the watch's events until it ends. It is false if the connection is to be cut.
func sendMessages(ctx context.Context, conn *websocket.Conn, watch *watch) bool {
	fault, _ := ctx.Value(frameFaultKey{}).(*frameFault)
	if fault != nil && fault.pass < 0 && !fault.send(conn, nil) {
		return false
	}
	sent := 0
	for frame := range watch.frames(ctx) {
		switch {
		case fault != nil && fault.pass == sent:
			if !fault.send(conn, frame) {
				return false
			}
		case conn.WriteMessage(websocket.TextMessage, frame) != nil:
			return true // the goodbye will not come through either
		}
		sent++
	}
	return true
}

// answerPings reads until the client closes the connection, or that is cut. What the client says is ignored.
func (s *Server) answerPings(conn *websocket.Conn) {
	conn.SetPingHandler(func(data string) error {
		if !s.isStalled() {
			conn.WriteControl(websocket.PongMessage, []byte(data), time.Time{}) // its error comes back to the next read or write
		}
		return nil
	})
	conn.SetCloseHandler(func(int, string) error { return nil }) // the answer is 1000, whatever the client's code is
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return
		}
	}
}

// saysGoodbye says whether the end of a watch is told to its client.
func (s *Server) saysGoodbye(ctx context.Context) bool {
	switch context.Cause(ctx) {
	case errDropped:
		return false
	case errClientLeft:
		return !s.isStalled()
	}
	return true
}

// upgrade makes a WebSocket of the request. What a real server refuses, it refuses as tersely, and gives nil.
func upgrade(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	if _, err := url.ParseRequestURI(r.Header.Get("Origin")); err != nil { // "null" is no URI
		refuseUpgrade(w, http.StatusForbidden)
		return nil
	}
	protocol := strings.TrimSpace(r.Header.Get("Sec-Websocket-Protocol"))
	if strings.Contains(protocol, ",") { // it does not choose
		refuseUpgrade(w, http.StatusBadRequest)
		return nil
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(hijacker{w}, r, http.Header{"Sec-Websocket-Protocol": {protocol}})
	if err != nil {
		return nil // the upgrader has answered
	}
	return conn
}

// refuseUpgrade answers with a status line and closes the connection.
func refuseUpgrade(w http.ResponseWriter, code int) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(code)
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n\r\n", code, http.StatusText(code))
}
