// Package turns limits the number of watches that pages keep open over HTTP/1.1. A browser opens at most six HTTP/1.1
// connections to an origin across all tabs, and each watch occupies a connection. Each watch therefore needs a slot. If
// no slot is free, watches take turns: each watch holds a slot for a short time, its turn, and then waits for the next
// one. A watch over WebSocket needs no slot, so [Sockets] is tried before watches take turns.
package turns

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	// healthy is the minimum duration of a turn. If a turn without events lasts this long, another turn may follow. The
	// end of a shorter turn is reported to the stream, which treats it as a sign that its resourceVersion has expired.
	healthy = time.Second
	// quiet limits the total duration of a watch without events, which may span several turns. It is shorter than a
	// stream's idle timeout of at least 65 seconds, because a stream would treat a longer watch as dead.
	quiet = 40 * time.Second
)

// ErrBusy is returned if no slot is free. It wraps errors.ErrUnsupported, so that package fallback tries the other
// transport.
var ErrBusy error = &unsupported{"all connections for watches are in use"}

type unsupported struct{ text string }

func (e *unsupported) Error() string { return e.text }
func (e *unsupported) Unwrap() error { return errors.ErrUnsupported }

// Slot permits one watch to be open. Its holder must call Release when the watch has ended.
type Slot struct {
	Over    func() bool // blocks until the slot is needed elsewhere and returns true, or until it is released and returns false; may be nil
	Release func()
}

// Transport is an [lw.Transport] over HTTP that requires a slot for each watch.
type Transport struct {
	HTTP lw.Transport
	// First is tried before HTTP and needs no slot. A watch takes a slot if First returns errors.ErrUnsupported. First
	// may be nil.
	First lw.Transport
	// Take returns a slot. If no slot is free and wait is set, it blocks until a slot is free. If no slot is free and
	// wait is not set, it returns ErrBusy.
	Take func(ctx context.Context, wait bool) (*Slot, error)
	// Waits is called when a watch starts to wait for a slot. If Waits is nil, a watch without a free slot fails with
	// ErrBusy.
	Waits func()
}

// Open implements [lw.Transport].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if !req.Watch {
		return t.HTTP.Open(ctx, req)
	}
	if t.First != nil {
		if body, err := t.First.Open(ctx, req); !errors.Is(err, errors.ErrUnsupported) || ctx.Err() != nil {
			return body, err
		}
	}
	w := &watch{of: t, ctx: ctx, req: req, began: time.Now()}
	if err := w.open(); err != nil {
		return nil, err
	}
	return &lw.Response{ReadCloser: w, Redact: w.redact}, nil
}

// watch is the response body of a watch. Until the server sends data, watch can repeat its request in several turns,
// because the resourceVersion of the request stays valid. When the slot must be returned, the watch ends with
// lw.ErrWatchClosed, so that the stream resumes immediately.
type watch struct {
	of       *Transport
	ctx      context.Context
	req      *lw.Request
	began    time.Time // start of the first turn
	received bool      // the server has sent data
	waited   bool      // Waits has been called

	// These fields describe the latest turn with a response.
	response *lw.Response
	turn     time.Time // start of the turn
	end      func()    // returns the slot; nil after the end of the turn
}

// redact removes the credential of the latest turn from text.
func (w *watch) redact(text string) string {
	if w.response.Redact == nil {
		return text
	}
	return w.response.Redact(text)
}

// open sends the request in one or more turns until the server responds.
func (w *watch) open() error {
	for {
		err := w.begin()
		if err != lw.ErrWatchClosed || w.ctx.Err() != nil {
			return err
		}
	}
}

// begin takes a slot and sends the request. It returns lw.ErrWatchClosed if the slot is needed elsewhere before the
// server responds.
func (w *watch) begin() error {
	slot, req, err := w.take()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(w.ctx)
	began, end := time.Now(), func() {
		cancel(nil)
		slot.Release()
	}
	if slot.Over != nil {
		go func() {
			if slot.Over() {
				cancel(lw.ErrWatchClosed)
			}
		}()
	}
	response, err := w.of.HTTP.Open(ctx, req)
	if err != nil {
		end()
		return err
	}
	w.response, w.turn, w.end = response, began, end
	return nil
}

// take takes a slot. It returns the slot and the request to send. If w had to wait for the slot, other watches probably
// wait, too. The request then has a timeout of two seconds, so that the other watches soon get a turn.
func (w *watch) take() (*Slot, *lw.Request, error) {
	slot, err := w.of.Take(w.ctx, false)
	if err != ErrBusy || w.of.Waits == nil {
		return slot, w.req, err
	}
	if !w.waited {
		w.waited = true
		w.of.Waits()
	}
	slot, err = w.of.Take(w.ctx, true)
	brief := *w.req
	query := w.req.Query
	if end := strings.LastIndex(query, "&timeoutSeconds="); end >= 0 { // lw adds the timeout last
		query = query[:end]
	}
	brief.Query = query + "&timeoutSeconds=2"
	return slot, &brief, err
}

// Close closes the response and returns the slot. It does nothing while the watch holds no slot, for example after a
// repeated request has failed.
func (w *watch) Close() error {
	end := w.end
	if end == nil {
		return nil
	}
	w.end = nil
	defer end()
	return w.response.Close()
}

// Read reads from the response. If the response ends before any data arrives, Read may repeat the request when the
// watch next gets a slot.
func (w *watch) Read(p []byte) (int, error) {
	for {
		n, err := w.response.Read(p)
		w.received = w.received || n > 0
		if n > 0 || !w.goesOn(err) {
			return n, err
		}
		_ = w.Close() // returns the slot
		if err := w.open(); err != nil {
			return 0, err
		}
	}
}

// goesOn reports whether the watch continues with another turn after a response ended with err. Only a watch that had to
// wait for a slot takes turns. After data has arrived, the watch cannot continue, because it would repeat the request with
// the old resourceVersion and receive the same events again. If the server ended the response early, the stream must
// receive the error, because it may have to relist.
func (w *watch) goesOn(err error) bool {
	return w.waited && !w.received && time.Since(w.began) < quiet && time.Since(w.turn) >= healthy &&
		(err == io.EOF || err == lw.ErrWatchClosed) && w.ctx.Err() == nil
}
