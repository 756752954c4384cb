package lwtest

import (
	"bufio"
	"context"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// ReplaceFrame changes a watch over WebSocket. It passes n events, and calls with for the next one. It writes the bytes sent to
// the connection unchanged, so they must be WebSocket frames of the caller, whole or not, none or several. If goOn is true, the
// watch continues. Otherwise the connection is cut without a CLOSE frame. A negative n calls with right after the handshake, and
// event is nil. Other responses do not change.
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

// hijacker finds Hijack beneath the wrappers of faults, as the upgrader does not.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}
