package lwtest

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// ReplaceFrame spoils a watch over WebSocket: n events pass, and in place of the next one the bytes are sent that with makes
// of it. They go to the connection as they are: make frames with [Frame], whole or not, none, or several. If goOn is true,
// the watch goes on after them; else the connection is cut, without a CLOSE frame. With a negative n it happens right after
// the handshake, and event is nil. Other answers are not changed.
func ReplaceFrame(n int, with func(event []byte) (sent []byte, goOn bool)) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		fault := &frameFault{n, with}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), frameFaultKey{}, fault)))
	}
}

type frameFault struct {
	pass int // events
	with func(event []byte) (sent []byte, goOn bool)
}

type frameFaultKey struct{} // of a request's context

// send is false if the connection is to be cut. It writes all at once, so that no pong can come in between.
func (f *frameFault) send(conn *websocket.Conn, event []byte) (goOn bool) {
	sent, goOn := f.with(event)
	_, err := conn.NetConn().Write(sent)
	return goOn && err == nil
}

// Frame is a frame of a WebSocket as servers send it, unmasked (RFC 6455, section 5.2). The opcode is 0 for the continuation
// of a message, 1 for text, 2 for binary data, 8 for the end, 9 for a ping, 10 for a pong; final is false if a continuation
// follows.
func Frame(opcode byte, final bool, payload []byte) []byte {
	if final {
		opcode |= 0x80
	}
	frame := []byte{opcode}
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

// CloseFrame is the frame that ends a WebSocket, for a reason of at most 123 bytes.
func CloseFrame(code uint16, reason string) []byte {
	return Frame(websocket.CloseMessage, true, append(binary.BigEndian.AppendUint16(nil, code), reason...))
}

// hijacker finds Hijack beneath the wrappers of faults, as the upgrader does not.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}
