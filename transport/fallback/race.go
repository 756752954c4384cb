package fallback

import (
	"context"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// patience is how long a transport has to answer a watch until the other one is asked, too.
const patience = 3 * time.Second

// race opens a watch over one of two transports.
type race struct {
	ctx        context.Context
	req        *lw.Request
	transports [2]lw.Transport
	begun      []*attempt
	over       chan struct{} // closed when no answer is awaited any more
}

// attempt is the request over one transport, and what became of it.
type attempt struct {
	using  int
	body   io.ReadCloser
	err    error
	cancel context.CancelFunc
}

// Close ends the watch.
func (a *attempt) Close() error {
	defer a.cancel()
	return a.body.Close()
}

// run asks the transport in use, and the other one where that has refused or says nothing for a while. It returns the attempt
// that has opened the watch, with what the one in use met with if it is the other's; or the error of the one in use, as whoever
// saw both would look at that first.
func (r *race) run(using int) (won *attempt, err error) {
	defer func() { r.end(won) }()
	patient := time.NewTimer(patience)
	defer patient.Stop()
	first, other := r.ask(using), (<-chan *attempt)(nil)
	for {
		select {
		case a := <-first:
			if a.err == nil {
				return a, nil
			}
			if err = a.err; r.ctx.Err() != nil || !mayBeTheTransports(err) || len(r.begun) == 2 && other == nil {
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
				return nil, context.Cause(r.ctx) // nobody knows what it would have said
			}
			if err != nil {
				return nil, err
			}
			other = nil
		case <-patient.C:
		}
		if len(r.begun) == 1 {
			other = r.ask(1 - using)
		}
	}
}

func (r *race) ask(using int) <-chan *attempt {
	ctx, cancel := context.WithCancel(r.ctx)
	a := &attempt{using: using, cancel: cancel}
	r.begun = append(r.begun, a)
	answer := make(chan *attempt)
	go func() {
		a.body, a.err = r.transports[using].Open(ctx, r.req)
		select {
		case answer <- a:
		case <-r.over:
			if a.err == nil {
				_ = a.body.Close()
			}
		}
	}()
	return answer
}

// end ends all attempts but one.
func (r *race) end(won *attempt) {
	close(r.over)
	for _, a := range r.begun {
		if a != won {
			a.cancel()
		}
	}
}
