package lw

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const idleLimit = 140 * time.Second

// wallClock is a wall clock that a test can set, independently of the monotonic clock, which synctest simulates.
type wallClock struct{ offset atomic.Int64 }

func (c *wallClock) now() time.Time       { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *wallClock) jump(d time.Duration) { c.offset.Add(int64(d)) }

// timeToCancel moves the wall clock by jump in the middle of the idle timeout. It returns how long after the jump the
// watchdog cancels the request.
func timeToCancel(t *testing.T, jump time.Duration) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var clock wallClock
		ctx, dog := guard(t.Context(), idleLimit, nil, clock.now)
		defer dog.stop()
		time.Sleep(idleLimit / 2)
		require.NoError(t, ctx.Err())
		clock.jump(jump)
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
	require.LessOrEqual(t, timeToCancel(t, 10*time.Minute), maxInterval)
}

func TestIdleTimeoutDespiteWallClockSetBack(t *testing.T) {
	took := timeToCancel(t, -time.Hour)
	require.GreaterOrEqual(t, took, idleLimit/2)
	require.LessOrEqual(t, took, idleLimit/2+maxInterval)
}

func TestRequestBelowIdleTimeoutContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wallClock
		ctx, dog := guard(t.Context(), idleLimit, nil, clock.now)
		defer dog.stop()
		clock.jump(idleLimit - 1)
		dog.check()
		require.NoError(t, ctx.Err())
		clock.jump(1)
		dog.check()
		require.Equal(t, ErrSilent, context.Cause(ctx))
	})
}

func TestCallerTimeIsNotIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wallClock
		ctx, dog := guard(t.Context(), idleLimit, nil, clock.now)
		defer dog.stop()
		dog.pause()
		clock.jump(time.Hour)
		dog.check()
		require.NoError(t, ctx.Err(), "the request must continue while the caller handles an event")
		dog.resume(idleLimit)
		dog.check()
		require.NoError(t, ctx.Err(), "idle time must not be counted until the caller returns")
	})
}

func TestWakeChecksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wallClock
		wake := make(chan struct{})
		ctx, dog := guard(t.Context(), idleLimit, wake, clock.now)
		defer dog.stop()
		wake <- struct{}{}
		synctest.Wait()
		require.NoError(t, ctx.Err(), "the request must continue before the idle timeout")
		clock.jump(time.Hour)
		wake <- struct{}{}
		synctest.Wait()
		require.Equal(t, ErrSilent, context.Cause(ctx))
		close(wake)
	})
}

func TestStoppedWatchdogHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, dog := guard(t.Context(), time.Minute, make(chan struct{}), nil)
		dog.stop()
		require.Error(t, ctx.Err())
		dog.check()
		require.False(t, dog.timer.Stop(), "the timer must not be running")
	})
}
