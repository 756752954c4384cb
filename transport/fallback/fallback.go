// Package fallback provides a transport that falls back from a preferred transport to another transport. For example,
// it uses WebSocket behind a proxy that buffers HTTP responses, or HTTP behind a proxy that rejects WebSockets.
package fallback

import (
	"context"
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/preference"
	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is an [lw.Transport] that uses one of two other transports. All methods may be called concurrently. All
// streams share the current choice.
//
// If a watch fails with 400, 405, 426, 501, 502 or [errors.ErrUnsupported], Transport tries the other transport. It
// switches when a watch over the other transport delivers data. It does not try WebSocket after 401, 403 or 404 over
// HTTP.
//
// Transport also switches when a watch reaches its idle timeout without any data, for example because a proxy buffers
// the response. Once the current transport has delivered data for any watch, this no longer causes a switch.
//
// If the server does not respond to a watch within three seconds, Transport opens it over the other transport as well.
// The first response wins. A kube-apiserver responds at once. However, a proxy may buffer the response or drop the
// handshake, and Firefox reports a response only after its first byte. Once the current transport has delivered data, a
// slow response no longer causes a switch.
type Transport struct {
	transports [2]lw.Transport
	preference *preference.Preference
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport that prefers first to second. The transport reports each switch once, to [lw.Trace].Switched
// of the stream that caused it.
func New(first, second lw.Transport) *Transport {
	preferred := new(preference.Preference)
	if shared, ok := first.(preference.Shared); ok {
		first, preferred = shared.Transport, shared.Preference
	}
	return &Transport{[2]lw.Transport{first, second}, preferred}
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	using, _ := t.preference.Current()
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

// switchFrom switches to the other transport unless another stream has already done so. If the cause is [lw.ErrSilent],
// it does not switch from a transport that has delivered data.
func (t *Transport) switchFrom(ctx context.Context, from int, cause error) {
	if !t.preference.Switch(from, cause == lw.ErrSilent) {
		return
	}
	if switched := lw.ContextTrace(ctx).Switched; switched != nil {
		switched(cause)
	}
}

// isTransportError reports whether the other transport may succeed after err. Over HTTP, 401, 403 and 404 come from the
// server, so a WebSocket would fail, too. Its handshake would also expose the token in a subprotocol, which proxies may
// log. Package ws wraps 403 and 404 responses to a handshake in errors.ErrUnsupported.
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

// watchBody is the response body of a watch. Its reads determine whether the transport switches.
type watchBody struct {
	*attempt
	ctx       context.Context
	transport *Transport
	firstErr  error // error of the transport that was tried first, or nil if that transport opened this watch
	received  bool
}

// Redact removes the credential of the request from text. See package redact.
func (w *watchBody) Redact(text string) string { return redact.Body(w.body, text) }

func (w *watchBody) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 && !w.received {
		w.received = true
		if w.firstErr != nil {
			w.transport.switchFrom(w.ctx, 1-w.index, w.firstErr)
		}
		w.transport.preference.Confirm(w.index)
	}
	if err != nil && !w.received && (errors.Is(err, lw.ErrSilent) || context.Cause(w.ctx) == lw.ErrSilent) {
		w.transport.switchFrom(w.ctx, w.index, lw.ErrSilent)
	}
	return n, err
}
