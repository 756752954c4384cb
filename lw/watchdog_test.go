package lw

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/stretchr/testify/require"
)

const idleLimit = 140 * time.Second

// twoClocks replaces the monotonic clock and the wall clock of the engine. Timers use the time of the synctest bubble.
// The counters are atomic because timers read them concurrently.
type twoClocks struct {
	monotonic, wall atomic.Int64
}

func (c *twoClocks) context(ctx context.Context) context.Context {
	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	return clock.With(ctx, &clock.Clock{
		Monotonic: func() time.Duration { return time.Duration(c.monotonic.Load()) },
		Wall:      func() time.Time { return start.Add(time.Duration(c.wall.Load())) },
	})
}

func (c *twoClocks) addWall(d time.Duration)      { c.wall.Add(int64(d)) }
func (c *twoClocks) addMonotonic(d time.Duration) { c.monotonic.Add(int64(d)) }

// timeToCancel calls change to modify the clocks. It returns how long the watchdog then takes to cancel a request.
func timeToCancel(t *testing.T, change func(*twoClocks)) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var clocks twoClocks
		ctx, dog := guard(clocks.context(t.Context()), idleLimit, nil)
		defer dog.stop()
		time.Sleep(time.Hour)
		require.NoError(t, ctx.Err(), "the request must not be canceled while both clocks are stopped")
		change(&clocks)
		changed := time.Now()
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		require.Equal(t, ErrSilent, context.Cause(ctx))
		took = time.Since(changed)
	})
	return took
}

func TestWallClockRevealsSuspend(t *testing.T) {
	took := timeToCancel(t, func(c *twoClocks) { c.addWall(10 * time.Minute) })
	require.LessOrEqual(t, took, maxInterval)
}

func TestIdleTimeoutDespiteWallClockSetBack(t *testing.T) {
	took := timeToCancel(t, func(c *twoClocks) {
		c.addWall(-time.Hour)
		c.addMonotonic(idleLimit)
	})
	require.LessOrEqual(t, took, maxInterval)
}

func TestRequestBelowIdleTimeoutContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clocks twoClocks
		ctx, dog := guard(clocks.context(t.Context()), idleLimit, nil)
		defer dog.stop()
		clocks.addMonotonic(idleLimit - 1)
		clocks.addWall(idleLimit - 1)
		dog.check()
		require.NoError(t, ctx.Err())
		clocks.addMonotonic(1)
		dog.check()
		require.Equal(t, ErrSilent, context.Cause(ctx))
	})
}

func TestCallerTimeIsNotIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clocks twoClocks
		ctx, dog := guard(clocks.context(t.Context()), idleLimit, nil)
		defer dog.stop()
		dog.pause()
		clocks.addWall(time.Hour)
		dog.check()
		require.NoError(t, ctx.Err(), "the request must continue while the caller handles an event")
		dog.resume(idleLimit)
		dog.check()
		require.NoError(t, ctx.Err(), "idle time must not be counted until the caller returns")
	})
}

func TestWakeChecksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clocks twoClocks
		wake := make(chan struct{})
		ctx, dog := guard(clocks.context(t.Context()), idleLimit, wake)
		defer dog.stop()
		wake <- struct{}{}
		synctest.Wait()
		require.NoError(t, ctx.Err(), "the request must continue before the idle timeout")
		clocks.addWall(time.Hour)
		wake <- struct{}{}
		synctest.Wait()
		require.Equal(t, ErrSilent, context.Cause(ctx))
		close(wake)
	})
}

func TestStoppedWatchdogHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, dog := guard(t.Context(), time.Minute, make(chan struct{}))
		dog.stop()
		require.Error(t, ctx.Err())
		dog.check()
		require.False(t, dog.timer.Stop(), "the timer must not be running")
	})
}
