package lwtest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Fault handles a request instead of the server. It can call next to get the server's response and change it. The
// request's context is canceled when the server stops or drops its connections.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// fault is a Fault that [Server.Fail] added, together with a condition for the requests to which it applies.
type fault struct {
	match func(Request) bool
	left  int // number of further requests to which the fault applies; negative means no limit
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

// Refuse returns a Fault that responds with e, encoded as a Status. e.Code is required. e.RetryAfter is rounded down to
// whole seconds, because the Retry-After header cannot contain fractions.
func Refuse(e *lw.StatusError) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) { fail(w, r, e) }
}

// Stall returns a Fault that never responds. The connection stays open.
func Stall() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }
}

// Expire returns a Fault that forwards n watch events. Instead of the next event, it sends an ERROR event with code 410
// and ends the watch. Over WebSocket, the client must end the watch, because Firefox loses messages that arrive just
// before a connection is cut. Unlike [Server.Compact], it does not expire resourceVersions.
func Expire(n int) Fault {
	last := eventFrame("ERROR", encodeStatus(expired("too old resource version: 1 (2)"), ""))
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		ReplaceEvent(n, func([]byte) ([]byte, bool) {
			if isWebSocket(r) {
				return newFrame(websocket.TextMessage, last), true
			}
			return last, false
		})(w, r, next)
	}
}

// ReplaceEvent returns a Fault that forwards n watch events and replaces the next event. It calls with(event) and
// writes the returned bytes instead of the event, for example half of the event or invalid JSON. A list counts as one
// event. Over WebSocket, the bytes are raw data: complete frames, partial frames or nothing. A streaming list that
// [Options.CompressStreamingLists] compresses cannot be replaced.
//
// If goOn is true, the watch continues. Otherwise, the response ends as if it were complete, and a WebSocket is cut
// without a CLOSE frame. If n is negative, with(nil) is called immediately after the WebSocket handshake.
func ReplaceEvent(n int, with func(event []byte) (sent []byte, goOn bool)) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&replacer{w, isWebSocket(r), n, with}, r)
	}
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

// replacer is a ResponseWriter that replaces one event or list. The handlers write each event or list with a single
// call of Write, so the replacer counts calls. For a WebSocket, it replaces a TEXT message on the connection instead.
type replacer struct {
	http.ResponseWriter
	socket bool
	left   int // number of events to forward unchanged; if negative, with(nil) is called after the WebSocket handshake
	with   func(event []byte) (sent []byte, goOn bool)
}

var errReplaced = errors.New("lwtest: a fault ended the response")

// isNext counts an event and reports whether to replace it.
func (p *replacer) isNext() bool {
	p.left--
	return p.left == -1
}

// replace writes other data to w instead of an event. An error ends the watch and cuts a WebSocket.
func (p *replacer) replace(w io.Writer, event []byte) error {
	sent, goOn := p.with(event)
	_, err := w.Write(sent)
	if err == nil && !goOn {
		err = errReplaced
	}
	return err
}

// Unwrap lets http.ResponseController call Flush.
func (p *replacer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *replacer) Write(event []byte) (int, error) {
	if p.socket || !p.isNext() {
		return p.ResponseWriter.Write(event)
	}
	return len(event), p.replace(p.ResponseWriter, event)
}

func (p *replacer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := hijacker{p.ResponseWriter}.Hijack()
	return &replacerConn{conn, p}, buffered, err
}

// replacerConn replaces a frame on the connection of a WebSocket. The server writes each frame with a single call of
// Write, so the first byte of the data shows the type of the frame.
type replacerConn struct {
	net.Conn
	replacer *replacer
}

func (c *replacerConn) Write(data []byte) (int, error) {
	var event []byte
	switch {
	case data[0] == 'H' && c.replacer.left < 0: // the handshake, which begins with HTTP/1.1
		if _, err := c.Conn.Write(data); err != nil {
			return 0, err
		}
	case data[0] == 0x80|websocket.TextMessage && c.replacer.isNext():
		event = payload(data)
	default:
		return c.Conn.Write(data)
	}
	return len(data), c.replacer.replace(c.Conn, event)
}

// payload returns the payload of an unmasked frame. Servers do not mask their frames.
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
