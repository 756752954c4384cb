// Package fallback provides a transport that falls back from a preferred transport to another transport. For example,
// it uses WebSocket behind a proxy that buffers HTTP responses, or HTTP behind a proxy that rejects WebSockets.
package fallback

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is an [lw.Transport] that uses one of two other transports. All methods may be called concurrently. All
// streams use the same current transport, so only one stream has to discover that the preferred transport does not
// work.
//
// If a watch fails with 400, 405, 426, 501, 502 or [errors.ErrUnsupported], the transport itself may be the cause, so
// Transport tries the other one. It switches when a watch over the other transport delivers data. After a 401, 403 or 404
// over HTTP, it does not try WebSocket, because such a response comes from the server itself, which would reject a
// WebSocket, too.
//
// Transport also switches when a watch reaches its idle timeout without any data, for example because a proxy buffers
// the response. Once any watch over the current transport has delivered data, an idle timeout no longer causes a
// switch.
//
// If the server does not respond to a watch within three seconds, Transport also opens the watch over the other
// transport. The first response wins. The delay is short because a kube-apiserver responds at once. A later response
// may mean that a proxy buffers the response or drops the handshake, or that the browser is Firefox, which reports a
// response only after its first byte. Once the current transport has delivered data, a slow response no longer causes a
// switch.
type Transport struct {
	transports [2]lw.Transport
	choice     *choice
}

var _ lw.Transport = (*Transport)(nil)

// hedgeDelay is the time after which a watch without a response is also opened over the other transport. Waiting for an
// error is not enough, because a proxy that buffers responses sends nothing until the watch ends.
const hedgeDelay = 3 * time.Second

// New returns a transport that prefers `first` to `second`. The transport reports each switch once, to the function
// [lw.Trace].Switched of the stream that caused the switch.
func New(first, second lw.Transport) *Transport {
	return &Transport{[2]lw.Transport{first, second}, new(choice)}
}

// With returns a transport that uses the given two transports, but always makes the same choice as t. Use it for
// transports to the same server that differ, for example, in their credentials.
func (t *Transport) With(first, second lw.Transport) *Transport {
	return &Transport{[2]lw.Transport{first, second}, t.choice}
}

// Open implements [lw.Transport]. Requests other than watches use the current transport, and their failures do not
// cause a switch.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	t.choice.mu.Lock()
	using := t.choice.current
	t.choice.mu.Unlock()
	if !req.Watch {
		return t.transports[using].Open(ctx, req)
	}
	return t.race(ctx, req, using)
}

// attempt is a watch over one of the two transports. It is also the response body of the watch, because only the body
// shows whether the transport works: either it delivers data, or it fails.
type attempt struct {
	io.ReadCloser
	transport *Transport
	index     int
	ctx       context.Context // context passed to Open, which outlives a canceled attempt
	cancel    context.CancelFunc
	response  *lw.Response
	err       error
	firstErr  error // why the current transport did not open this watch, or nil if it did; the cause to report in a switch
	received  bool
}

// race opens a watch over the current transport. After an error or after hedgeDelay it also tries the other transport.
// The first response wins.
func (t *Transport) race(ctx context.Context, req *lw.Request, using int) (*lw.Response, error) {
	var attempts []*attempt
	var won *attempt
	answers, done := make(chan *attempt), make(chan struct{})
	defer func() {
		close(done)
		for _, a := range attempts {
			if a != won {
				a.cancel()
			}
		}
	}()
	start := func(index int) {
		attemptCtx, cancel := context.WithCancel(ctx)
		a := &attempt{transport: t, index: index, ctx: ctx, cancel: cancel}
		attempts = append(attempts, a)
		go func() {
			a.response, a.err = t.transports[index].Open(attemptCtx, req)
			select {
			case answers <- a:
			case <-done:
				if a.err == nil {
					_ = a.response.Close()
				}
			}
		}()
	}
	hedge := time.NewTimer(hedgeDelay)
	defer hedge.Stop()
	start(using)
	var firstErr error
	for failures := 0; ; {
		select {
		case <-hedge.C:
		case a := <-answers:
			current := a.index == using
			switch {
			case a.err == nil:
				if won = a; !current {
					if a.firstErr = firstErr; firstErr == nil {
						a.firstErr = lw.ErrSilent
					}
				}
				a.ReadCloser, a.response.ReadCloser = a.response.ReadCloser, a
				return a.response, nil
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case current && !isTransportError(a.err):
				return nil, a.err
			case current:
				firstErr = a.err
			}
			if failures++; failures == 2 {
				return nil, firstErr
			}
		}
		if len(attempts) == 1 {
			start(1 - using)
		}
	}
}

func (a *attempt) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 && !a.received {
		a.received = true
		if a.firstErr != nil {
			a.transport.switchFrom(a.ctx, 1-a.index, a.firstErr)
		}
		c := a.transport.choice
		c.mu.Lock()
		c.confirmed = c.confirmed || c.current == a.index
		c.mu.Unlock()
	}
	if err != nil && !a.received && (errors.Is(err, lw.ErrSilent) || context.Cause(a.ctx) == lw.ErrSilent) {
		a.transport.switchFrom(a.ctx, a.index, lw.ErrSilent)
	}
	return n, err
}

// Close ends the watch.
func (a *attempt) Close() error {
	defer a.cancel()
	return a.ReadCloser.Close()
}

// switchFrom switches to the other transport and reports the switch. If another stream has already switched, it does
// nothing. [lw.ErrSilent] does not cause a switch from a transport that has delivered data, because any connection can
// break silently.
func (t *Transport) switchFrom(ctx context.Context, from int, cause error) {
	c := t.choice
	c.mu.Lock()
	leave := c.current == from && (!c.confirmed || cause != lw.ErrSilent)
	if leave {
		c.current, c.confirmed = 1-from, false
	}
	c.mu.Unlock()
	if switched := lw.ContextTrace(ctx).Switched; leave && switched != nil {
		switched(cause)
	}
}

// choice records which of two transports is in use. Several Transports may share it; see With.
type choice struct {
	mu        sync.Mutex
	current   int
	confirmed bool // a watch over the current transport delivered data
}

// isTransportError reports whether the other transport may succeed after err. Over HTTP, 401, 403 and 404 come from the
// server, so a WebSocket would fail, too. In a browser, its handshake would also expose the token in a subprotocol,
// which proxies may log. Package ws wraps 403 and 404 responses to a handshake in errors.ErrUnsupported.
func isTransportError(err error) bool {
	status, ok := errors.AsType[*lw.StatusError](err)
	return errors.Is(err, errors.ErrUnsupported) || ok && slices.Contains([]int{400, 405, 426, 501, 502}, status.Code)
}
