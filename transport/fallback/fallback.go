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
// It goes over to the other when the server refuses a watch in a way that the transport may be to blame for, and the other
// does better; and when a watch was silent for all its life, before any has brought a byte over the transport in use, as
// behind a proxy that waits for the end of a response. Whichever has brought something is kept from then on.
type Transport struct {
	transports [2]lw.Transport

	mu     sync.Mutex
	inUse  int
	proven bool // a watch has brought something
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport that prefers the first. Each change is told to [lw.Trace.Switched].
func New(first, second lw.Transport) *Transport {
	return &Transport{transports: [2]lw.Transport{first, second}}
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	using, _ := t.current()
	body, err := t.transports[using].Open(ctx, req)
	if err != nil && req.Watch && ctx.Err() == nil && mayBeTheTransports(err) {
		other, otherErr := t.transports[1-using].Open(ctx, req)
		if otherErr != nil {
			return nil, err // whoever sees both would look at the preferred one's first
		}
		t.change(ctx, using, err)
		using, body, err = 1-using, other, nil
	}
	if err != nil || !req.Watch {
		return body, err
	}
	return &watched{ReadCloser: body, ctx: ctx, of: t, using: using}, nil
}

func (t *Transport) current() (using int, proven bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inUse, t.proven
}

// change goes over to the other transport, unless another stream has done so.
func (t *Transport) change(ctx context.Context, from int, cause error) {
	t.mu.Lock()
	changes := t.inUse == from
	if changes {
		t.inUse, t.proven = 1-from, false
	}
	t.mu.Unlock()
	if switched := lw.TraceOf(ctx).Switched; changes && switched != nil {
		switched(cause)
	}
}

func (t *Transport) prove(using int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.proven = t.proven || t.inUse == using
}

// mayBeTheTransports reports whether a refusal may be of the way that was asked, rather than of what was asked for.
func mayBeTheTransports(err error) bool {
	if errors.Is(err, errors.ErrUnsupported) {
		return true
	}
	status, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return false
	}
	switch status.Code {
	case 400, 403, 404, 405, 426, 501, 502:
		return true
	}
	return false
}

// watched is a watch's body.
type watched struct {
	io.ReadCloser
	ctx   context.Context
	of    *Transport
	using int
	heard bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 && !w.heard {
		w.heard = true
		w.of.prove(w.using)
	}
	if err != nil && !w.heard && (errors.Is(err, lw.ErrSilent) || context.Cause(w.ctx) == lw.ErrSilent) {
		if using, proven := w.of.current(); using == w.using && !proven {
			w.of.change(w.ctx, w.using, lw.ErrSilent)
		}
	}
	return n, err
}
