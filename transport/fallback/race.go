package fallback

import (
	"context"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// hedgeDelay is the time after which a watch without a response is also opened over the other transport.
const hedgeDelay = 3 * time.Second

// race opens a watch over the current transport, and over the other transport if necessary. The first response wins.
type race struct {
	ctx        context.Context
	req        *lw.Request
	transports [2]lw.Transport
	attempts   []*attempt
	done       chan struct{} // closed when the race has a winner or has failed
}

// attempt is a request over one of the two transports, with its result.
type attempt struct {
	index  int
	body   io.ReadCloser
	err    error
	cancel context.CancelFunc
}

// Close ends the watch.
func (a *attempt) Close() error {
	defer a.cancel()
	return a.body.Close()
}

// run tries the current transport. After an error or after hedgeDelay it also tries the other transport. It returns the
// attempt that succeeded. If the other transport succeeded, err is the error of the current transport, or lw.ErrSilent
// if it did not respond.
func (r *race) run(using int) (won *attempt, err error) {
	defer func() { r.cancelOthers(won) }()
	hedge := time.NewTimer(hedgeDelay)
	defer hedge.Stop()
	first, other := r.start(using), (<-chan *attempt)(nil)
	for {
		select {
		case a := <-first:
			if a.err == nil {
				return a, nil
			}
			err = a.err
			if r.ctx.Err() != nil || !isTransportError(err) || len(r.attempts) == 2 && other == nil {
				return nil, err
			}
			first = nil
		case a := <-other:
			if a.err == nil && err == nil {
				err = lw.ErrSilent
			}
			if a.err == nil {
				return a, err
			}
			if r.ctx.Err() != nil {
				return nil, context.Cause(r.ctx) // ctx was canceled before a response arrived
			}
			if err != nil {
				return nil, err
			}
			other = nil
		case <-hedge.C:
		}
		if len(r.attempts) == 1 {
			other = r.start(1 - using)
		}
	}
}

func (r *race) start(using int) <-chan *attempt {
	ctx, cancel := context.WithCancel(r.ctx)
	a := &attempt{index: using, cancel: cancel}
	r.attempts = append(r.attempts, a)
	answer := make(chan *attempt)
	go func() {
		a.body, a.err = r.transports[using].Open(ctx, r.req)
		select {
		case answer <- a:
		case <-r.done:
			if a.err == nil {
				_ = a.body.Close()
			}
		}
	}()
	return answer
}

// cancelOthers ends the race and cancels all attempts except won.
func (r *race) cancelOthers(won *attempt) {
	close(r.done)
	for _, a := range r.attempts {
		if a != won {
			a.cancel()
		}
	}
}
