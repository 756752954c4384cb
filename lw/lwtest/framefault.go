package lwtest

import (
	"bufio"
	"context"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// ReplaceFrame returns a Fault that replaces one event of a watch over WebSocket. It forwards n events unchanged and
// calls with(event) for the next event. If n is negative, it calls with(nil) immediately after the handshake. It writes
// the returned bytes to the connection as raw WebSocket data: complete frames, partial frames or nothing. If goOn is
// true, the watch continues. Otherwise, the connection is cut without a CLOSE frame. Other responses are not affected.
func ReplaceFrame(n int, with func(event []byte) (sent []byte, goOn bool)) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		fault := &frameFault{n, with}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), frameFaultKey{}, fault)))
	}
}

type frameFault struct {
	pass int // number of events to forward unchanged
	with func(event []byte) (sent []byte, goOn bool)
}

type frameFaultKey struct{} // context key for a *frameFault

// send writes the frames that replace event and reports whether the watch continues. It calls Write only once, so that
// no pong can come between the frames.
func (f *frameFault) send(conn *websocket.Conn, event []byte) (goOn bool) {
	sent, goOn := f.with(event)
	_, err := conn.NetConn().Write(sent)
	return goOn && err == nil
}

// hijacker makes Hijack available to the upgrader, which does not unwrap a ResponseWriter.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}
