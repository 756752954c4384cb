// Package fallback prefers one transport, and goes over to another where the first cannot be had: WebSocket where a proxy
// holds back what streams, or HTTP where one refuses WebSockets.
package fallback

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is a [lw.Transport] over one of two others. All methods may run concurrently; what one stream has learned holds
// for all.
//
// It switches to the other transport after an error response to a watch, if a watch over the other one brings something. After
// 401, 403 or 404 over HTTP it does not try the other one. It also switches when a watch was silent for all its life, before any has brought a byte over the transport
// in use, as behind a proxy that waits for the end of a response. Whichever has brought something is kept from then on, until
// it is refused.
//
// A watch that has no answer after three seconds is asked for over the other, too, and goes over the one that answers first:
// an API server answers at once, but a proxy may wait for the end of a response or swallow a handshake, and Firefox shows
// nothing of a response before its first byte, which in a quiet collection comes after a minute. That is a reason to go over
// for all only as long as no watch has brought anything.
type Transport struct {
	transports [2]lw.Transport
	*preference
}

// preference is the transport in use for a server.
type preference struct {
	mu        sync.Mutex
	current   int
	confirmed bool // a watch over it has delivered data
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport that prefers the first. Each change is told once, to the [lw.Trace.Switched] of the stream that
// found it.
func New(first, second lw.Transport) *Transport {
	return &Transport{[2]lw.Transport{first, second}, new(preference)}
}

// With returns a transport over two others to the same server, as of another user; what one of them learns holds for both.
func (t *Transport) With(first, second lw.Transport) *Transport {
	return &Transport{[2]lw.Transport{first, second}, t.preference}
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	using, _ := t.get()
	if !req.Watch {
		return t.transports[using].Open(ctx, req)
	}
	r := &race{ctx: ctx, req: req, transports: t.transports, done: make(chan struct{})}
	won, err := r.run(using)
	if won == nil {
		return nil, err
	}
	return &watchBody{attempt: won, ctx: ctx, transport: t, firstErr: err}, nil
}

func (v *preference) get() (using int, proven bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.current, v.confirmed
}

// switchFrom switches to the other transport unless another stream has done so. A timeout is no reason to switch away from a
// confirmed transport.
func (v *preference) switchFrom(ctx context.Context, from int, cause error) {
	v.mu.Lock()
	changes := v.current == from && !(v.confirmed && cause == lw.ErrSilent)
	if changes {
		v.current, v.confirmed = 1-from, false
	}
	v.mu.Unlock()
	if switched := lw.TraceOf(ctx).Switched; changes && switched != nil {
		switched(cause)
	}
}

func (v *preference) confirm(using int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.confirmed = v.confirmed || v.current == using
}

// isTransportError reports whether the transport may have caused an error response. 401, 403 and 404 over HTTP come from the
// server. A WebSocket would repeat the token in a subprotocol, which proxies log.
func isTransportError(err error) bool {
	if errors.Is(err, errors.ErrUnsupported) {
		return true
	}
	status, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return false
	}
	switch status.Code {
	case 400, 405, 426, 501, 502:
		return true
	}
	return false
}

// watchBody is the body of a watch.
type watchBody struct {
	*attempt
	ctx       context.Context
	transport *Transport
	firstErr  error // the error of the transport in use; nil if it opened the watch itself
	received  bool
}

// Redact is for [lw.Redact].
func (w *watchBody) Redact(text string) string { return lw.Redact(w.body, text) }

func (w *watchBody) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 && !w.received {
		w.received = true
		if w.firstErr != nil {
			w.transport.switchFrom(w.ctx, 1-w.index, w.firstErr)
		}
		w.transport.confirm(w.index)
	}
	if err != nil && !w.received && (errors.Is(err, lw.ErrSilent) || context.Cause(w.ctx) == lw.ErrSilent) {
		w.transport.switchFrom(w.ctx, w.index, lw.ErrSilent)
	}
	return n, err
}
