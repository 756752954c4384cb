//go:build !js

// Package wire provides a server for testing transports on all platforms. A request's path and query select the
// response. Web pages from any origin may send requests.
package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Handler returns the handler of the test server, which has these paths:
//
//	/echo           returns the request as JSON
//	/status/CODE    returns an error response with a Status that has retryAfterSeconds 7 and repeats the credential
//	/event          serves a watch with an ERROR event that repeats the credential
//	/etag           returns "the document" with an ETag, or 304 if If-None-Match contains it
//	/token          returns 401 unless the bearer token is "fresh"
//	/parts          sends each query parameter "say" as a chunk; "cut" then drops the connection
//	/endless        sends bytes forever
//	/silent         sends headers and then nothing
//	/ws             sends each query parameter "say" as a WebSocket message and drops the connection;
//	                "binary" sends binary messages, and "wait" first waits until the client closes the
//	                WebSocket
//	/ws/CODE        like /ws, but closes the WebSocket with a reason that repeats the credential
//	/once/CODE      like /ws/CODE, but rejects the WebSocket until a plain request with the same "name"
//	                has arrived
//	/handshakes     returns the number of WebSocket handshakes that /status has rejected
//	/sent           returns the number of bytes that /endless has sent
//	/waiting        returns the number of waiting requests to /silent and /ws
func Handler() http.Handler {
	s := &server{}
	mux := http.NewServeMux()
	for path, f := range map[string]http.HandlerFunc{
		"/echo": echo, "/status/{code}": s.status, "/event": event, "/etag": tagged, "/token": token,
		"/parts": parts, "/endless": s.endless, "/silent": s.silent, "/ws": s.webSocket, "/ws/{code}": s.webSocket, "/once/{code}": s.once,
		"/handshakes": count(&s.handshakes), "/sent": count(&s.sent), "/waiting": count(&s.waiting),
	} {
		mux.HandleFunc(path, f)
	}
	return allow(mux)
}

type server struct {
	sent, waiting, handshakes atomic.Int64
	seen                      sync.Map // names in the plain requests that /once has received
}

// allow adds CORS headers that permit requests from pages of any origin.
func allow(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Impersonate-User, If-None-Match")
			w.Header().Set("Access-Control-Expose-Headers", "ETag")
		}
		if r.Method != http.MethodOptions {
			h.ServeHTTP(w, r)
		}
	})
}

func count(n *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, n.Load()) }
}

func echo(w http.ResponseWriter, r *http.Request) {
	text, _ := json.Marshal(Request{URL: r.URL.String(), Header: r.Header, Protocols: websocket.Subprotocols(r)})
	reply(w, r, string(text))
}

// reply sends text as the body of a response, or as the only message of a WebSocket.
func reply(w http.ResponseWriter, r *http.Request, text string) {
	if !websocket.IsWebSocketUpgrade(r) {
		_, _ = io.WriteString(w, text)
	} else if conn := upgrade(w, r); conn != nil {
		defer conn.Close()
		_ = conn.WriteMessage(websocket.TextMessage, []byte(text))
		end(conn, websocket.CloseNormalClosure, "")
	}
}

func (s *server) status(w http.ResponseWriter, r *http.Request) {
	code, _ := strconv.Atoi(r.PathValue("code"))
	if websocket.IsWebSocketUpgrade(r) {
		s.handshakes.Add(1)
	}
	w.WriteHeader(code)
	_, _ = io.WriteString(w, status(r, code))
}

func event(w http.ResponseWriter, r *http.Request) {
	reply(w, r, `{"type":"ERROR","object":`+status(r, http.StatusInternalServerError)+`}`)
}

// status returns a Status that repeats the credential in each string that clients print.
func status(r *http.Request, code int) string {
	return fmt.Sprintf(`{"kind":"Status","code":%d,"reason":%[2]q,"message":"because%[2]s","details":{"name":%[2]q,"retryAfterSeconds":7}}`, code, credential(r))
}

// credential returns the first WebSocket subprotocol, which contains the token, or the Authorization header.
func credential(r *http.Request) string {
	if protocols := websocket.Subprotocols(r); len(protocols) > 0 {
		return protocols[0]
	}
	return r.Header.Get("Authorization")
}

func tagged(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"v1"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader("the document"))
}

func token(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer fresh" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.WriteString(w, "welcome")
}

func parts(w http.ResponseWriter, r *http.Request) {
	for _, part := range r.URL.Query()["say"] {
		_, _ = io.WriteString(w, part)
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

func (s *server) silent(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	<-r.Context().Done()
}

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
		_ = conn.WriteMessage(form, []byte(message))
	}
	if query.Has("wait") {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		_, _, _ = conn.ReadMessage() // blocks until the client closes the WebSocket
	}
	if code, err := strconv.Atoi(r.PathValue("code")); err == nil {
		end(conn, code, "reason"+credential(r))
	}
}

func (s *server) once(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	if !websocket.IsWebSocketUpgrade(r) {
		s.seen.Store(name, true)
	} else if _, seen := s.seen.Load(name); seen {
		s.webSocket(w, r)
	} else {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// upgrade performs a WebSocket handshake and returns the connection, or nil after an error. It selects the client's
// last subprotocol, because the others contain tokens.
func upgrade(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	if offered := websocket.Subprotocols(r); len(offered) > 0 {
		upgrader.Subprotocols = offered[len(offered)-1:]
	}
	conn, _ := upgrader.Upgrade(w, r, nil) // sends an error response and returns nil after an error
	return conn
}

// end sends a close message and blocks until the client closes the WebSocket.
func end(conn *websocket.Conn, code int, reason string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Minute))
	_, _, _ = conn.ReadMessage()
}
