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
// It goes over to the other when the server refuses a watch in a way that the transport may be to blame for, and a watch over
// the other brings something; and when a watch was silent for all its life, before any has brought a byte over the transport
// in use, as behind a proxy that waits for the end of a response. If that watch had no answer at all, the next list must have
// one first: else it is the server that is away. Whichever has brought something is kept from then on, until it is refused.
type Transport struct {
	transports [2]lw.Transport

	mu      sync.Mutex
	inUse   int
	proven  bool // a watch has brought something
	suspect bool // a watch had no answer
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport that prefers the first. Each change is told once, to the [lw.Trace.Switched] of the stream that
// found it.
func New(first, second lw.Transport) *Transport {
	return &Transport{transports: [2]lw.Transport{first, second}}
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	using, _ := t.current()
	body, err := t.transports[using].Open(ctx, req)
	if !req.Watch {
		t.listed(ctx, err == nil)
		return body, err
	}
	if err == nil {
		return &watched{ReadCloser: body, ctx: ctx, of: t, using: using}, nil
	}
	if ctx.Err() != nil {
		t.unanswered(ctx, using)
		return nil, err
	}
	if !mayBeTheTransports(err) {
		return nil, err
	}
	other, otherErr := t.transports[1-using].Open(ctx, req)
	if otherErr != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx) // nobody knows what the other would have said
	}
	if otherErr != nil {
		return nil, err // whoever sees both would look at the preferred one's first
	}
	return &watched{ReadCloser: other, ctx: ctx, of: t, using: 1 - using, refused: err}, nil
}

func (t *Transport) current() (using int, proven bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inUse, t.proven
}

// unanswered notes that a watch had no answer, if that is what ended its context.
func (t *Transport) unanswered(ctx context.Context, using int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.suspect = t.suspect || t.inUse == using && context.Cause(ctx) == lw.ErrSilent
}

// listed notes how a list went. Where a watch had no answer before, it tells whether the transport is to blame.
func (t *Transport) listed(ctx context.Context, answered bool) {
	t.mu.Lock()
	using, blame := t.inUse, t.suspect && answered && !t.proven
	t.suspect = false
	t.mu.Unlock()
	if blame {
		t.change(ctx, using, lw.ErrSilent)
	}
}

// change goes over to the other transport, unless another stream has done so.
func (t *Transport) change(ctx context.Context, from int, cause error) {
	t.mu.Lock()
	changes := t.inUse == from
	if changes {
		t.inUse, t.proven, t.suspect = 1-from, false, false
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
	ctx     context.Context
	of      *Transport
	using   int
	refused error // what the other transport, which is in use, met with; nil: this one is in use
	heard   bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 && !w.heard {
		w.heard = true
		if w.refused != nil {
			w.of.change(w.ctx, 1-w.using, w.refused)
		}
		w.of.prove(w.using)
	}
	if err != nil && !w.heard && (errors.Is(err, lw.ErrSilent) || context.Cause(w.ctx) == lw.ErrSilent) {
		if using, proven := w.of.current(); using == w.using && !proven {
			w.of.change(w.ctx, w.using, lw.ErrSilent)
		}
	}
	return n, err
}
