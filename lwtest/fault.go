package lwtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"slices"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Fault handles a request instead of the server. It can call next to get the server's response and change it. The
// request's context is canceled when the server stops or drops its connections.
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
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) { fail(w, r, e) }
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
	return spoil(n, half, func(event []byte) ([]byte, bool) {
		return half(newFrame(websocket.TextMessage, event)), false
	})
}

// Garbage returns a Fault that forwards n watch events, sends invalid JSON instead of the next event, and ends the
// response. A list counts as one event. Over WebSocket, it sends a TEXT message and CLOSE 1000.
func Garbage(n int) Fault { return endWith(n, []byte("\x1f\x8b this is not JSON }\n")) }

// Expire returns a Fault that forwards n watch events, sends an ERROR event with code 410 instead of the next event, and
// ends the watch. Over WebSocket, the client must end it, because Firefox loses messages that arrive just before the
// connection is cut. Unlike [Server.Compact], it does not expire resourceVersions.
func Expire(n int) Fault {
	last := eventFrame("ERROR", encodeStatus(expired("too old resource version: 1 (2)"), ""))
	return spoil(n, func([]byte) []byte { return last }, func([]byte) ([]byte, bool) {
		return newFrame(websocket.TextMessage, last), true
	})
}

// endWith returns a Fault that forwards n events, sends last instead of the next event, and ends the response.
func endWith(n int, last []byte) Fault {
	return spoil(n, func([]byte) []byte { return last }, func([]byte) ([]byte, bool) {
		text := bytes.ToValidUTF8(last, []byte("?")) // a TEXT message must be valid UTF-8
		return append(newFrame(websocket.TextMessage, text), newFrame(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))...), false
	})
}

// ReplaceFrame returns a Fault that replaces one event of a watch over WebSocket. It forwards n events unchanged and
// calls with(event) for the next event. If n is negative, it calls with(nil) immediately after the handshake. It writes
// the returned bytes to the connection as raw WebSocket data: complete frames, partial frames or nothing. If goOn is
// true, the watch continues. Otherwise, the connection is cut without a CLOSE frame. Other responses are not affected.
func ReplaceFrame(n int, with func(event []byte) (sent []byte, goOn bool)) Fault {
	return spoil(n, nil, with)
}

// newFrame returns a WebSocket frame of the type opcode as a server sends it (RFC 6455, section 5.2).
func newFrame(opcode byte, payload []byte) []byte {
	frame := []byte{0x80 | opcode} // 0x80 marks the only frame of a message
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 127), uint64(n))
	}
	return append(frame, payload...)
}

// spoil returns a Fault that forwards n events and replaces the next event. Over HTTP, it calls change, unless change is
// nil, and ends the response. A list counts as one event. Over WebSocket, it calls with, which also decides whether the
// watch continues.
func spoil(n int, change func(event []byte) []byte, with func(event []byte) (sent []byte, goOn bool)) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&spoiler{w, n, change, with}, r)
	}
}

// spoiler is a ResponseWriter that replaces the data of a single write. It relies on handlers that write each event or
// list with a single call. After Hijack, it replaces a TEXT message of the connection instead.
type spoiler struct {
	http.ResponseWriter
	left   int // number of events to forward unchanged; if negative, with(nil) follows the handshake
	change func(event []byte) []byte
	with   func(event []byte) (sent []byte, goOn bool)
}

var errSpoiled = errors.New("lwtest: a fault ended the response")

// isNext counts an event and reports whether to replace it.
func (s *spoiler) isNext() bool {
	s.left--
	return s.left == -1
}

// Unwrap lets http.ResponseController call Flush.
func (s *spoiler) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *spoiler) Write(event []byte) (int, error) {
	if s.change == nil || !s.isNext() {
		return s.ResponseWriter.Write(event)
	}
	s.ResponseWriter.Write(s.change(event))
	return 0, errSpoiled // the error ends the watch
}

func (s *spoiler) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := hijacker{s.ResponseWriter}.Hijack()
	return &spoiledConn{conn, s}, buffered, err
}

// spoiledConn is the connection of a WebSocket whose server writes each frame with a single call.
type spoiledConn struct {
	net.Conn
	spoiler *spoiler
}

func (c *spoiledConn) Write(data []byte) (int, error) {
	var event []byte
	switch {
	case data[0] == 'H' && c.spoiler.left < 0: // the handshake, which begins with HTTP/1.1
		if _, err := c.Conn.Write(data); err != nil {
			return 0, err
		}
	case data[0] == 0x80|websocket.TextMessage && c.spoiler.isNext():
		event = payload(data)
	default:
		return c.Conn.Write(data)
	}
	sent, goOn := c.spoiler.with(event)
	if _, err := c.Conn.Write(sent); err != nil || !goOn {
		return 0, errSpoiled // the error ends the watch, and cuts the connection
	}
	return len(data), nil
}

// payload returns the payload of a frame without a mask.
func payload(frame []byte) []byte {
	switch frame[1] {
	case 126:
		return frame[4:]
	case 127:
		return frame[10:]
	}
	return frame[2:]
}

// hijacker makes Hijack available to the upgrader, which does not unwrap a ResponseWriter.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}
