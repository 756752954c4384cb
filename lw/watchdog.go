package lw

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/internal/lock"
)

// mostBetweenLooks is the longest time between two looks. An idle request ends at most this long after its limit, and at
// most this long after the machine resumed from suspension.
const maxInterval = 10 * time.Second

// watchdog cancels the context of a request with ErrSilent when the request brought nothing for too long. Time that the
// caller spends on an event does not count. A suspended machine stops the monotonic clock, and somebody may set the wall
// clock back. So the longer one of the two clocks' times counts.
type watchdog struct {
	cancel context.CancelCauseFunc
	clock  *clock.Clock

	last  clock.Moment // when something came last
	limit atomic.Int64 // the idle timeout; zero: stopped
	held  atomic.Bool  // the caller handles an event

	mu    lock.Mutex
	timer *time.Timer
}

// guard returns a context for a request, and a watchdog with an idle timeout of limit. The caller must stop the watchdog.
// A value on wake makes the watchdog look at once. wake may be nil.
func guard(ctx context.Context, limit time.Duration, wake <-chan struct{}) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &watchdog{cancel: cancel, clock: clock.From(ctx)}
	d.resume(limit)
	d.mu.Lock() // the timer may fire before d.timer is set
	d.timer = time.AfterFunc(d.interval(), d.check)
	d.mu.Unlock()
	if wake != nil {
		go d.listen(ctx, wake)
	}
	return ctx, d
}

func (d *watchdog) stop() {
	d.mu.Lock()
	d.timer.Stop()
	d.limit.Store(0)
	d.mu.Unlock()
	d.cancel(nil)
}

// hold suspends the idle timeout while the caller handles an event. resume starts it again. Neither takes a lock, because they
// run for every event.
func (d *watchdog) pause() { d.held.Store(true) }

func (d *watchdog) resume(limit time.Duration) {
	d.last.Set(d.clock.Now())
	d.limit.Store(int64(limit))
	d.held.Store(false) // last, because look reads it first
}

func (d *watchdog) interval() time.Duration {
	return min(time.Duration(d.limit.Load())/4, maxInterval)
}

// look cancels the request if it was idle for too long. Otherwise it sets the timer for the next look.
func (d *watchdog) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	limit := time.Duration(d.limit.Load())
	if limit == 0 {
		return
	}
	if !d.held.Load() && d.clock.Since(d.last.Get()) >= limit {
		d.cancel(ErrSilent)
		return
	}
	d.timer.Reset(d.interval())
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
			d.check()
		}
	}
}
