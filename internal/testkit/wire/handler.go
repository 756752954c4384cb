//go:build !js

// Package wire is a server whose answers are told by the request, for tests of transports that run on every platform. A page
// may ask it from any origin.
package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Handler returns the server. Its paths:
//
//	/echo           the request, as JSON
//	/status/CODE    an error response with a Status, and retryAfterSeconds 7; /handshakes counts those to a WebSocket's handshake
//	/echo/CODE      an error response with a Status that repeats the credential
//	/event, /leave  a watch with an ERROR event, or a WebSocket's close reason, that repeats the credential
//	/token          401 unless the bearer token is "fresh"
//	/parts          each of the query's "say" as a chunk; then the end, or with "cut" none
//	/endless        bytes without an end; /sent tells how many of them were written
//	/silent         headers and nothing more; /waiting tells how many such requests are open
//	/nothing        the connection is closed before any answer
//	/ws             a WebSocket: each "say" as a message, "binary" for that form; then closed with the code "close", or cut
//	                without one; "wait" leaves it open, and counts it in /waiting
//	/once           a WebSocket that is refused whenever no request without one has come before for the same "name"
func Handler() http.Handler {
	s := &server{seen: make(chan map[string]bool, 1)}
	s.seen <- map[string]bool{}
	mux := http.NewServeMux()
	for path, f := range map[string]http.HandlerFunc{
		"/echo": s.echo, "/status/{code}": s.status, "/token": s.token, "/parts": s.parts, "/endless": s.endless,
		"/sent": s.told(&s.sent), "/handshakes": s.told(&s.handshakes), "/echo/{code}": echoStatus, "/event": event, "/leave": leave, "/silent": s.silent, "/waiting": s.told(&s.waiting), "/nothing": nothing,
		"/ws": s.webSocket, "/once": s.once,
	} {
		mux.HandleFunc(path, f)
	}
	return allow(mux)
}

type server struct {
	sent, waiting, handshakes atomic.Int64
	seen                      chan map[string]bool
}

// allow lets pages of any origin in.
func allow(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Impersonate-User")
		}
		if r.Method != http.MethodOptions {
			h.ServeHTTP(w, r)
		}
	})
}

func (s *server) echo(w http.ResponseWriter, r *http.Request) {
	seen := Request{URL: r.URL.String(), Header: r.Header, Protocols: websocket.Subprotocols(r)}
	text, _ := json.Marshal(seen)
	if !websocket.IsWebSocketUpgrade(r) {
		_, _ = w.Write(text)
		return
	}
	if conn := upgrade(w, r); conn != nil {
		defer conn.Close()
		say(conn, websocket.TextMessage, string(text))
		end(conn, websocket.CloseNormalClosure, "")
	}
}

// credential is how the request carries its token.
func credential(r *http.Request) string {
	if protocols := websocket.Subprotocols(r); len(protocols) > 0 {
		return protocols[0]
	}
	return r.Header.Get("Authorization")
}

func echoStatus(w http.ResponseWriter, r *http.Request) {
	code, _ := strconv.Atoi(r.PathValue("code"))
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","reason":%[1]q,"message":%[1]q,"details":{"name":%[1]q}}`, credential(r))
}

func event(w http.ResponseWriter, r *http.Request) {
	text := fmt.Sprintf(`{"type":"ERROR","object":{"kind":"Status","code":500,"reason":%[1]q,"message":%[1]q,"details":{"name":%[1]q}}}`, credential(r))
	if !websocket.IsWebSocketUpgrade(r) {
		_, _ = w.Write([]byte(text))
	} else if conn := upgrade(w, r); conn != nil {
		defer conn.Close()
		say(conn, websocket.TextMessage, text)
		end(conn, websocket.CloseNormalClosure, "")
	}
}

func leave(w http.ResponseWriter, r *http.Request) {
	if conn := upgrade(w, r); conn != nil {
		defer conn.Close()
		end(conn, websocket.CloseInternalServerErr, credential(r))
	}
}

func (s *server) status(w http.ResponseWriter, r *http.Request) {
	code, _ := strconv.Atoi(r.PathValue("code"))
	if websocket.IsWebSocketUpgrade(r) {
		s.handshakes.Add(1)
	}
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","code":%d,"message":"because","details":{"retryAfterSeconds":7}}`, code)
}

func (s *server) token(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer fresh" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = w.Write([]byte("welcome"))
}

func (s *server) parts(w http.ResponseWriter, r *http.Request) {
	for _, part := range r.URL.Query()["say"] {
		_, _ = w.Write([]byte(part))
		w.(http.Flusher).Flush()
	}
	if r.URL.Query().Has("cut") {
		panic(http.ErrAbortHandler)
	}
}

func (s *server) endless(w http.ResponseWriter, _ *http.Request) {
	part := []byte(strings.Repeat("x", 1<<16))
	for {
		n, err := w.Write(part)
		s.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func (s *server) told(n *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, n.Load()) }
}

func (s *server) silent(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	<-r.Context().Done()
}

func nothing(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func (s *server) webSocket(w http.ResponseWriter, r *http.Request) {
	conn := upgrade(w, r)
	if conn == nil {
		return
	}
	defer conn.Close()
	query, form := r.URL.Query(), websocket.TextMessage
	if query.Has("binary") {
		form = websocket.BinaryMessage
	}
	for _, message := range query["say"] {
		say(conn, form, message)
	}
	if query.Has("wait") {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		_, _, _ = conn.ReadMessage() // until the client leaves
	}
	if code, err := strconv.Atoi(query.Get("close")); err == nil {
		end(conn, code, "reason")
	}
}

func (s *server) once(w http.ResponseWriter, r *http.Request) {
	seen, name := <-s.seen, r.URL.Query().Get("name")
	defer func() { s.seen <- seen }()
	switch {
	case !websocket.IsWebSocketUpgrade(r):
		seen[name] = true
	case !seen[name]:
		w.WriteHeader(http.StatusBadRequest)
	default:
		s.webSocket(w, r)
	}
}

// upgrade takes the last subprotocol that is offered, as a kube-apiserver takes the one that is no token.
func upgrade(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	if offered := websocket.Subprotocols(r); len(offered) > 0 {
		upgrader.Subprotocols = offered[len(offered)-1:]
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil // the client has been told
	}
	return conn
}

func say(conn *websocket.Conn, form int, message string) {
	_ = conn.WriteMessage(form, []byte(message))
}

// end closes a WebSocket, and waits until the client does so too.
func end(conn *websocket.Conn, code int, reason string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Minute))
	_, _, _ = conn.ReadMessage()
}
