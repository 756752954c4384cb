package lwtest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/internal/wsframe"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Fault answers a request in place of the server, or spoils the server's answer: next gives that. The request's context ends
// when the server is stopped or its connections are dropped.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

type fault struct {
	match Match
	left  int // -1: no end
	serve Fault
}

// Fail makes the next n requests that match fail, all of them if n is negative. The faults of earlier calls come first. stop
// ends it before n is used up.
func (s *Server) Fail(m Match, n int, f Fault) (stop func()) {
	if m == nil || f == nil {
		panic("lwtest: Fail needs a Match, as Any, and a Fault")
	}
	added := &fault{m, n, f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, added)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		added.left = 0
	}
}

// takeFault gives the fault for a request. s.mu is held.
func (s *Server) takeFault(r Request) Fault {
	s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool { return f.left == 0 })
	for _, f := range s.faults {
		if f.match(r) {
			if f.left > 0 {
				f.left--
			}
			return f.serve
		}
	}
	return nil
}

// Refuse answers with a Status, whose Code must be set. RetryAfterSeconds of its details is sent in the body only, not in a
// header.
func Refuse(status lw.Status) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		send(w, r, status.Code, marshal(newStatus(status)))
	}
}

// Gone answers with HTTP status 410 and reason Expired. On a watch only aggregated API servers and proxies do so.
func Gone() Fault {
	return Refuse(expired("too old resource version").client().Status)
}

// TooManyRequests answers 429 the way an overloaded apiserver does: in plain text, with Retry-After in whole seconds.
func TooManyRequests(retryAfter time.Duration) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", fmt.Sprint(int(retryAfter.Seconds())))
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
	}
}

// LoginPage answers 200 with HTML, as a portal in between might.
func LoginPage() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html>\n<html><body><h1>Please log in</h1></body></html>\n")
	}
}

// Stall accepts the request and never answers.
func Stall() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }
}

// HangUp closes the connection before the first byte of an answer.
func HangUp() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Truncate lets n frames of the true answer pass, then half of the next one, and ends the answer as if it were complete. A
// frame is an event of a watch or a whole list. Over WebSocket half of the message is sent, header included, and the
// connection is cut.
func Truncate(n int) Fault {
	half := func(frame []byte) []byte { return frame[:len(frame)/2] }
	return spoil(n, half, func(event []byte) []byte { return half(wsframe.New(websocket.TextMessage, true, event)) })
}

// Garbage lets n frames of the true answer pass, then sends something that is not JSON in place of the next one and ends the
// answer; over WebSocket in a TEXT message, with a CLOSE 1000.
func Garbage(n int) Fault {
	garbage := []byte("\x1f\x8b this is not JSON }\n")
	return spoil(n, func([]byte) []byte { return garbage }, func([]byte) []byte {
		text := bytes.ToValidUTF8(garbage, []byte("?")) // else the message would be at fault, and not what it says
		return append(wsframe.New(websocket.TextMessage, true, text), wsframe.Close(websocket.CloseNormalClosure, "")...)
	})
}

// spoil changes a frame of an HTTP answer, and what is sent for it over WebSocket.
func spoil(n int, change, changeSocket func(frame []byte) []byte) Fault {
	socket := ReplaceFrame(n, func(event []byte) ([]byte, bool) { return changeSocket(event), false })
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		socket(&spoiler{w, n, change}, r, next)
	}
}

// spoiler relies on the handlers writing a frame at a time.
type spoiler struct {
	http.ResponseWriter
	left   int // frames to pass
	change func([]byte) []byte
}

var errSpoiled = errors.New("lwtest: the answer has been spoiled")

// Unwrap lets http.ResponseController find Flush.
func (s *spoiler) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *spoiler) Write(frame []byte) (int, error) {
	if s.left == 0 {
		s.ResponseWriter.Write(s.change(frame))
		return 0, errSpoiled // ends a watch
	}
	s.left--
	return s.ResponseWriter.Write(frame)
}
