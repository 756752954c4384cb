package lw

import (
	"context"
	"sync"
	"time"
)

// mostBetweenLooks bounds how late a silence is noticed, and how long after a machine woke up.
const mostBetweenLooks = 10 * time.Second

// watchdog ends a request that has been silent for too long, by cancelling its context with ErrSilent. Time during which
// the caller has the word does not count. Neither a suspended machine nor a sleeping tab deceives it: what counts is the
// longer of the times by the monotonic clock and by the wall clock.
type watchdog struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	limit time.Duration
	last  time.Time // when something came last; zero: the caller has the word
	timer *time.Timer
}

// guard returns a context for a request that may be silent for limit, and its watchdog, which must be stopped. wake, if
// not nil, makes it look at once.
func guard(ctx context.Context, limit time.Duration, wake <-chan struct{}) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &watchdog{cancel: cancel, limit: limit, last: time.Now()}
	d.mu.Lock() // which look needs, should it come at once
	d.timer = time.AfterFunc(d.pause(), d.look)
	d.mu.Unlock()
	if wake != nil {
		go d.listen(ctx, wake)
	}
	return ctx, d
}

func (d *watchdog) stop() {
	d.mu.Lock()
	d.timer.Stop()
	d.limit = 0
	d.mu.Unlock()
	d.cancel(nil)
}

// hold stops the clock while the caller has the word, and resume starts it anew.
func (d *watchdog) hold() {
	d.mu.Lock()
	d.last = time.Time{}
	d.mu.Unlock()
}

func (d *watchdog) resume(limit time.Duration) {
	d.mu.Lock()
	d.last, d.limit = time.Now(), limit
	d.mu.Unlock()
}

func (d *watchdog) pause() time.Duration { return min(d.limit/4, mostBetweenLooks) }

// look ends the request if it has been silent for too long, and otherwise comes again.
func (d *watchdog) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit == 0 { // stopped
		return
	}
	if !d.last.IsZero() {
		now := time.Now()
		if max(now.Sub(d.last), now.Round(0).Sub(d.last.Round(0))) >= d.limit {
			d.cancel(ErrSilent)
			return
		}
	}
	d.timer.Reset(d.pause())
}

func (d *watchdog) listen(ctx context.Context, wake <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-wake:
			if !open {
				return
			}
			d.look()
		}
	}
}
