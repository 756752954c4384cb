package lw

import (
	"context"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
)

// mostBetweenLooks is the longest time between two looks. An idle request ends at most this long after its limit, and at
// most this long after the machine resumed from suspension.
const mostBetweenLooks = 10 * time.Second

// watchdog cancels the context of a request with ErrSilent when the request brought nothing for too long. Time that the
// caller spends on an event does not count. A suspended machine stops the monotonic clock, and somebody may set the wall
// clock back. So the longer one of the two clocks' times counts.
type watchdog struct {
	cancel context.CancelCauseFunc
	clock  *clock.Clock

	mu    sync.Mutex
	limit time.Duration // zero: stopped
	held  bool          // the caller handles an event
	last  clock.Reading // when something came last
	timer *time.Timer
}

// guard returns a context for a request, and a watchdog with an idle timeout of limit. The caller must stop the watchdog.
// A value on wake makes the watchdog look at once. wake may be nil.
func guard(ctx context.Context, limit time.Duration, wake <-chan struct{}) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &watchdog{cancel: cancel, clock: clock.From(ctx), limit: limit}
	d.mu.Lock() // the timer may fire before d.timer is set
	d.last = d.clock.Now()
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

// hold suspends the idle timeout while the caller handles an event. resume starts it again.
func (d *watchdog) hold() {
	d.mu.Lock()
	d.held = true
	d.mu.Unlock()
}

func (d *watchdog) resume(limit time.Duration) {
	d.mu.Lock()
	d.held, d.last, d.limit = false, d.clock.Now(), limit
	d.mu.Unlock()
}

func (d *watchdog) pause() time.Duration { return min(d.limit/4, mostBetweenLooks) }

// look cancels the request if it was idle for too long. Otherwise it sets the timer for the next look.
func (d *watchdog) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit == 0 {
		return
	}
	if !d.held && d.clock.Since(d.last) >= d.limit {
		d.cancel(ErrSilent)
		return
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
