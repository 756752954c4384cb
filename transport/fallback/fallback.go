// Package fallback prefers one transport, and goes over to another where the first cannot be had: WebSocket where a proxy
// holds back what streams, or HTTP where one refuses WebSockets.
package fallback

import (
	"context"
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/internal/tracing"
	"github.com/seed-6d2a410a/listwatch/internal/verdict"
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
	known      *verdict.Verdict
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport that prefers first. Each switch is reported once, to [lw.Trace].Switched of the stream that found the
// reason.
func New(first, second lw.Transport) *Transport {
	known := new(verdict.Verdict)
	if shared, ok := first.(verdict.Shared); ok {
		first, known = shared.Transport, shared.Verdict
	}
	return &Transport{[2]lw.Transport{first, second}, known}
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	using, _ := t.known.Current()
	if !req.Watch {
		return t.transports[using].Open(ctx, req)
	}
	r := &race{ctx: ctx, req: req, transports: t.transports, over: make(chan struct{})}
	won, err := r.run(using)
	if won == nil {
		return nil, err
	}
	return &watched{attempt: won, ctx: ctx, of: t, refused: err}, nil
}

// change switches to the other transport, unless another stream did so before.
func (t *Transport) change(ctx context.Context, from int, cause error) {
	if !t.known.Change(from, cause == lw.ErrSilent) {
		return
	}
	if switched := tracing.From[lw.Trace](ctx).Switched; switched != nil {
		switched(cause)
	}
}

// mayBeTheTransports reports whether the transport may be the reason for an error response. 401, 403 and 404 over HTTP are
// the answer of the server, and a page would repeat the request with the token in a subprotocol, which proxies log. Package
// ws marks those that answer a handshake as errors.ErrUnsupported.
func mayBeTheTransports(err error) bool {
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

// watched is a watch's body.
type watched struct {
	*attempt
	ctx     context.Context
	of      *Transport
	refused error // what the other transport, which was in use, met with; nil: it was this one
	heard   bool
}

// Redact removes the credential of the request from text. See package redact.
func (w *watched) Redact(text string) string { return redact.Body(w.body, text) }

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 && !w.heard {
		w.heard = true
		if w.refused != nil {
			w.of.change(w.ctx, 1-w.using, w.refused)
		}
		w.of.known.Prove(w.using)
	}
	if err != nil && !w.heard && (errors.Is(err, lw.ErrSilent) || context.Cause(w.ctx) == lw.ErrSilent) {
		w.of.change(w.ctx, w.using, lw.ErrSilent)
	}
	return n, err
}
