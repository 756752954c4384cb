package cache

import (
	"context"
	"time"
)

// resyncTimer fires when the next resync of a handler is due.
type resyncTimer struct {
	period time.Duration
	timer  *time.Timer // nil if resyncs are disabled
	due    time.Time   // when the timer fires
}

func newResyncTimer(period time.Duration) *resyncTimer {
	t := &resyncTimer{period: period}
	if period > 0 {
		t.timer, t.due = time.NewTimer(period), time.Now().Add(period)
	}
	return t
}

func (t *resyncTimer) restart() {
	t.timer.Reset(t.period)
	t.due = time.Now().Add(t.period)
}

// wait blocks until an item arrives, ctx is done or a resync is due. It reports whether a resync is due.
func (t *resyncTimer) wait(ctx context.Context, arrived <-chan struct{}) (due bool) {
	var fired <-chan time.Time
	if t.timer != nil {
		fired = t.timer.C
	}
	select {
	case <-arrived:
	case <-ctx.Done():
	case <-fired:
		t.restart()
		return true
	}
	return false
}

// takeDue reports whether a resync is due. If so, it restarts the timer. It does not block. It reads the clock and not
// the timer's channel, because polling a channel of simulated time can crash Go 1.26 under the race detector.
func (t *resyncTimer) takeDue() bool {
	if t.timer == nil || time.Now().Before(t.due) {
		return false
	}
	t.restart()
	return true
}
