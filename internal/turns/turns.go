// Package turns bounds the watches that a page keeps open over HTTP/1.1. A browser opens six connections to an origin over
// HTTP/1.1, for all tabs together, and a watch occupies one of them. So each watch needs a slot. If no slot is free, watches
// take turns on the slots.
package turns

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	// A turn without news must exceed this time. The engine takes a shorter watch for a sign that its resourceVersion expired.
	healthy = time.Second
	// A watch without news looks like one long watch, however many turns it takes. It ends after this time, before the idle
	// timeout of the engine, which is at least 65 seconds.
	quiet = 40 * time.Second
)

// ErrBusy reports that no slot is free. It is an errors.ErrUnsupported, so that package fallback tries the other transport.
var ErrBusy error = &unsupported{"all connections for watches are in use"}

type unsupported struct{ text string }

func (e *unsupported) Error() string { return e.text }
func (e *unsupported) Unwrap() error { return errors.ErrUnsupported }

// Slot is the right to keep one watch open.
type Slot struct {
	Over    func(context.Context) bool // blocks until the slot is wanted back, and then returns true; nil: never wanted
	Release func()
}

// Transport is a [lw.Transport] over HTTP whose watches need slots. All other requests pass.
type Transport struct {
	HTTP lw.Transport
	// First, if not nil, opens a watch that has no need to wait. After an errors.ErrUnsupported the watch waits for a slot.
	First lw.Transport
	// Take takes a slot. It returns ErrBusy if no slot is free and wait is false.
	Take func(ctx context.Context, wait bool) (*Slot, error)
	// Waits is called when a watch begins to take turns. If it is nil, a watch without a free slot fails with ErrBusy.
	Waits func()
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if !req.Watch {
		return t.HTTP.Open(ctx, req)
	}
	if t.First != nil {
		if body, err := t.First.Open(ctx, req); !errors.Is(err, errors.ErrUnsupported) || ctx.Err() != nil {
			return body, err
		}
	}
	w := &watch{transport: t, ctx: ctx, req: req, began: time.Now()}
	if err := w.open(); err != nil {
		return nil, err
	}
	return w, nil
}

// watch is the body of a watch. It spans several turns until the server sends something, because its request, with the same
// resourceVersion, stays right until then. When its slot is wanted back, it ends with lw.ErrWatchClosed, as if the server had
// closed it. So the watch resumes at once.
type watch struct {
	transport *Transport
	ctx       context.Context
	req       *lw.Request
	began     time.Time
	received  bool // the server sent something
	reported  bool // Waits was called

	// One turn.
	body io.ReadCloser
	turn time.Time // when it began
	end  func()
}

// open begins turns until the server answers one.
func (w *watch) open() error {
	for {
		err := w.start()
		if err != lw.ErrWatchClosed || w.ctx.Err() != nil {
			return err
		}
	}
}

func (w *watch) start() error {
	slot, req, err := w.acquireSlot()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(w.ctx)
	w.turn = time.Now()
	w.end = func() {
		cancel(nil)
		slot.Release()
	}
	if slot.Over != nil {
		go func() {
			if slot.Over(ctx) {
				cancel(lw.ErrWatchClosed)
			}
		}()
	}
	if w.body, err = w.transport.HTTP.Open(ctx, req); err != nil {
		w.end()
	}
	return err
}

// acquireSlot takes a slot and returns the request for it. A watch that had to wait requests a short timeout.
func (w *watch) acquireSlot() (*Slot, *lw.Request, error) {
	slot, err := w.transport.Take(w.ctx, false)
	if err != ErrBusy || w.transport.Waits == nil {
		return slot, w.req, err
	}
	if !w.reported {
		w.reported = true
		w.transport.Waits()
	}
	slot, err = w.transport.Take(w.ctx, true)
	return slot, Brief(w.req), err
}

// Close ends the watch.
func (w *watch) Close() error {
	defer w.end()
	return w.body.Close()
}

// Redact is for [lw.Redact].
func (w *watch) Redact(text string) string { return lw.Redact(w.body, text) }

// Read returns the end of a turn, unless the watch had no news. Then the watch takes another turn.
func (w *watch) Read(p []byte) (int, error) {
	for {
		n, err := w.body.Read(p)
		w.received = w.received || n > 0
		if n > 0 || !w.continues(err) {
			return n, err
		}
		_ = w.Close() // it has ended
		if err := w.open(); err != nil {
			return 0, err
		}
	}
}

// continues reports whether another turn follows one that ended with err. The engine sees a turn that the server ended early,
// because it may have to list.
func (w *watch) continues(err error) bool {
	return w.reported && !w.received && time.Since(w.began) < quiet && time.Since(w.turn) >= healthy &&
		(err == io.EOF || err == lw.ErrWatchClosed) && w.ctx.Err() == nil
}

// Brief returns a copy of a watch request that asks the server to end the watch after two seconds. Servers heed the first
// value of a parameter.
func Brief(req *lw.Request) *lw.Request {
	brief := *req
	brief.Query = "timeoutSeconds=2&" + req.Query
	return &brief
}
