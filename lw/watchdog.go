package lw

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxInterval is the maximum time between two checks of the watchdog. An idle request ends at most this long after its
// idle timeout, or after the computer wakes from sleep.
const maxInterval = 5 * time.Second

// watchdog cancels the context of a request with ErrSilent after the idle timeout. The time that the caller needs to
// handle an event does not count. The watchdog reads two clocks and uses the larger elapsed time, because sleep stops
// the monotonic clock and the wall clock may be set back.
type watchdog struct {
	cancel context.CancelCauseFunc
	start  time.Time
	wall   func() time.Time // nil means the wall clock of time.Now

	receiving time.Duration // monotonic time at which the first part of an unfinished object arrived, or zero
	monotonic atomic.Int64  // time since start at which data last arrived, in nanoseconds
	walltime  atomic.Int64  // the same on the wall clock, in nanoseconds since 1970
	limit     atomic.Int64  // idle timeout, or zero if stopped
	paused    atomic.Bool   // whether the caller is handling an event

	mu    sync.Mutex
	timer *time.Timer
}

// guard returns a context for a request, and a watchdog that cancels the context if the request is idle for longer than
// limit. The caller must stop the watchdog. A value on the channel wake triggers an immediate check. wake and wall may be
// nil.
func guard(ctx context.Context, limit time.Duration, wake <-chan struct{}, wall func() time.Time) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &watchdog{cancel: cancel, start: time.Now().Add(-1), wall: wall} // never zero, which means that no object is arriving
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

// clocks returns the time since start on the monotonic clock, and the time on the wall clock in nanoseconds since 1970.
func (d *watchdog) clocks() (monotonic, walltime int64) {
	now := time.Now()
	wall := now
	if d.wall != nil {
		wall = d.wall()
	}
	return int64(now.Sub(d.start)), wall.UnixNano()
}

// heard records that data has arrived.
func (d *watchdog) heard() (monotonic time.Duration) {
	m, w := d.clocks()
	d.monotonic.Store(m)
	d.walltime.Store(w)
	return time.Duration(m)
}

// progress restarts the idle timeout, because a part of an object has arrived. The rest of the object may take as long
// as a list may be idle, even in a streaming list.
func (d *watchdog) progress() {
	if now := d.heard(); d.receiving == 0 {
		d.receiving = now
	}
	d.limit.Store(max(d.limit.Load(), int64(idleRequest)))
}

// receivingFor returns how long the current object has been arriving, or zero if it arrived at once.
func (d *watchdog) receivingFor() time.Duration {
	if d.receiving == 0 {
		return 0
	}
	return time.Since(d.start) - d.receiving
}

// pause suspends the idle timeout while the caller handles an event, and resume restarts it. Both methods run for every
// event, so they do not lock.
func (d *watchdog) pause() { d.paused.Store(true) }

func (d *watchdog) resume(limit time.Duration) {
	d.receiving = 0
	d.heard()
	d.limit.Store(int64(limit))
	d.paused.Store(false) // must be the last statement, because check reads paused first
}

func (d *watchdog) interval() time.Duration {
	return min(time.Duration(d.limit.Load())/4, maxInterval)
}

// check cancels the request if the idle timeout has passed. Otherwise it schedules the next check.
func (d *watchdog) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	limit := d.limit.Load()
	if limit == 0 {
		return
	}
	paused := d.paused.Load()
	monotonic, walltime := d.clocks()
	if !paused && max(monotonic-d.monotonic.Load(), walltime-d.walltime.Load()) >= limit {
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
