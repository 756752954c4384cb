package cache

import (
	"context"
	"time"
)

// resyncTimer fires when the next resync of a handler is due.
type resyncTimer struct {
	period time.Duration
	timer  *time.Timer // nil if resyncs are disabled
}

func newResyncTimer(period time.Duration) *resyncTimer {
	t := &resyncTimer{period: period}
	if period > 0 {
		t.timer = time.NewTimer(period)
	}
	return t
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
		t.timer.Reset(t.period)
		return true
	}
	return false
}

// takeDue reports whether a resync is due. If so, it restarts the timer. It does not block.
func (t *resyncTimer) takeDue() bool {
	if t.timer == nil {
		return false
	}
	select {
	case <-t.timer.C:
		t.timer.Reset(t.period)
		return true
	default:
		return false
	}
}
