package lwtest

import (
	"bytes"
	"errors"
	"net/http"
	"slices"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/internal/wsframe"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Fault handles a request instead of the server. It can call next to get the server's response and change it. The
// context of the request is canceled when the server stops or drops its connections.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

type fault struct {
	match func(Request) bool
	left  int // number of requests that the fault still applies to (negative for no limit)
	serve Fault
}

// Fail applies f to the next n requests that match, or to all of them if n is negative. A nil match selects all
// requests. If several faults match a request, only the fault that was added first is applied. Calling stop removes the
// fault.
func (s *Server) Fail(match func(Request) bool, n int, f Fault) (stop func()) {
	if f == nil {
		panic("lwtest: Fail requires a non-nil Fault")
	}
	added := &fault{match, n, f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, added)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		added.left = 0
	}
}

// takeFault returns the fault to apply to a request, or nil if no fault matches. It counts the request against the
// limit of the fault. The caller must hold s.mu.
func (s *Server) takeFault(r Request) Fault {
	s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool { return f.left == 0 })
	for _, f := range s.faults {
		if matches(f.match, r) {
			if f.left > 0 {
				f.left--
			}
			return f.serve
		}
	}
	return nil
}

// Refuse returns a Fault that responds with e, encoded as a Status. e.Code is required. Fractions of a second in
// e.RetryAfter are dropped.
func Refuse(e *lw.StatusError) Fault {
	status := newStatus(e)
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) { fail(w, r, status) }
}

// Stall returns a Fault that never responds. The connection stays open.
func Stall() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }
}

// HangUp returns a Fault that closes the connection without a response.
func HangUp() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// Truncate returns a Fault that forwards n watch events, cuts the next event in half, and ends the response as if it
// were complete. A list counts as one event. Over WebSocket, it sends the first half of the frame and cuts the
// connection.
func Truncate(n int) Fault {
	half := func(frame []byte) []byte { return frame[:len(frame)/2] }
	return spoil(n, half, func(event []byte) []byte { return half(wsframe.New(websocket.TextMessage, true, event)) })
}

// Garbage returns a Fault that forwards n watch events, sends invalid JSON instead of the next event, and ends the
// response. A list counts as one event. Over WebSocket, it sends a TEXT message and CLOSE 1000.
func Garbage(n int) Fault {
	garbage := []byte("\x1f\x8b this is not JSON }\n")
	return spoil(n, func([]byte) []byte { return garbage }, func([]byte) []byte {
		text := bytes.ToValidUTF8(garbage, []byte("?")) // a TEXT message must be valid UTF-8
		return append(wsframe.New(websocket.TextMessage, true, text), wsframe.Close(websocket.CloseNormalClosure, "")...)
	})
}

// spoil returns a Fault that forwards n events and changes the next event. It calls change over HTTP, and changeSocket
// over WebSocket. A list counts as one event.
func spoil(n int, change, changeSocket func(frame []byte) []byte) Fault {
	socket := ReplaceFrame(n, func(event []byte) ([]byte, bool) { return changeSocket(event), false })
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		socket(&spoiler{w, n, change}, r, next)
	}
}

// spoiler is a ResponseWriter that changes the data of a single Write call. It relies on handlers that write each event
// or list with a single call.
type spoiler struct {
	http.ResponseWriter
	left   int // number of writes to forward unchanged
	change func([]byte) []byte
}

var errSpoiled = errors.New("lwtest: a fault ended the response")

// Unwrap lets http.ResponseController call Flush.
func (s *spoiler) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *spoiler) Write(frame []byte) (int, error) {
	if s.left == 0 {
		s.ResponseWriter.Write(s.change(frame))
		return 0, errSpoiled // the error ends the watch
	}
	s.left--
	return s.ResponseWriter.Write(frame)
}
