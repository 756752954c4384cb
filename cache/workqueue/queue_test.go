package workqueue

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

func TestKeysAreUniqueAndOrdered(t *testing.T) {
	q := New[string]()
	for _, key := range []string{"a", "b", "a", "c", "b"} {
		q.Add(key)
	}
	require.Equal(t, 3, q.Len())
	require.Equal(t, []string{"a", "b", "c"}, takes(t, q))
	requireForgotten(t, q)
}

func TestActiveKeyIsQueuedAgain(t *testing.T) {
	q := New[string]()
	q.Add("a")
	b := begin(t, q)
	q.Add("a")
	q.Add("a")
	q.Add("b")
	require.Equal(t, 1, q.Len(), "only b may be ready")
	b.end()
	require.Equal(t, []string{"b", "a"}, takes(t, q))
	requireForgotten(t, q)
}

func TestDelayedKeysAreOrderedByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]()
		q.AddAfter("late", 3*time.Second)
		q.AddAfter("early", time.Second)
		q.AddAfter("same", time.Second)
		q.AddAfter("late", 2*time.Second)  // the earlier of two delays counts
		q.AddAfter("early", 4*time.Second) // has no effect, because the key is already scheduled for an earlier time
		q.AddAfter("now", 0)
		require.Equal(t, []string{"now"}, takes(t, q))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"early", "same"}, takes(t, q))
		time.Sleep(500 * time.Millisecond)
		q.Add("late") // the key is ready now, and again after its delay
		require.Equal(t, []string{"late"}, takes(t, q))
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"late"}, takes(t, q))
		requireForgotten(t, q)
	})
}

func TestDelayEndsDuringWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]()
		q.AddAfter("a", time.Second)
		q.Add("a")
		b := begin(t, q)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Zero(t, q.Len())
		b.end()
		require.Equal(t, []string{"a"}, takes(t, q))
	})
}

func TestRetryBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](time.Second, 5*time.Second, unlimited())
		q.Add("a")
		for failures, delay := range []time.Duration{1, 2, 4, 5, 5} {
			b := begin(t, q)
			q.Retry("a")
			q.Retry("a") // the second call counts as the same failure
			require.Equal(t, failures, q.Failures("a"))
			time.Sleep(10 * time.Second) // the retry delay starts only when the loop body ends
			b.end()
			require.Equal(t, failures+1, q.Failures("a"))
			time.Sleep(delay*time.Second - time.Nanosecond)
			synctest.Wait()
			require.Zero(t, q.Len())
			time.Sleep(time.Nanosecond)
			synctest.Wait()
		}
		require.Equal(t, []string{"a"}, takes(t, q))
		requireForgotten(t, q)
		require.Zero(t, q.Failures("a"))
		q.Retry("a") // a retry outside of a loop body
		require.Equal(t, 1, q.Failures("a"))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"a"}, takes(t, q))
	})
}

func TestLimiterDelaysRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](time.Millisecond, 1000*time.Second, rate.NewLimiter(1, 2))
		for _, key := range []string{"a", "b", "c", "d"} {
			q.Add(key)
			b := begin(t, q)
			q.Retry(key)
			b.end()
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, takes(t, q))
		time.Sleep(time.Second - time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"c"}, takes(t, q))
		q.Add("new") // Add does not consume a token of the rate limiter
		require.Equal(t, []string{"new"}, takes(t, q))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"d"}, takes(t, q))
	})
}

// Due times must not overflow. The test uses a long delay of AddAfter, a limiter that does not allow any retry, and a
// key with many failures.
func TestLongDelaysDoNotOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](time.Second, math.MaxInt64, unlimited())
		never := newQueue[string](5*time.Millisecond, 1000*time.Second, rate.NewLimiter(0, 0))
		time.Sleep(time.Second) // advances the clock, because a due time overflows only if the clock is not zero
		q.AddAfter("a", math.MaxInt64)
		never.Retry("b")
		for range 100 {
			q.Retry("c") // only the delay of the first failure counts, which is one second
		}
		time.Sleep(time.Second - time.Nanosecond)
		synctest.Wait()
		require.Zero(t, q.Len())
		time.Sleep(365 * 24 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"c"}, takes(t, q))
		require.Zero(t, never.Len())
		q.Close()
		never.Close()
	})
}

func TestPanicAndGoexitCauseRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, leave := range []func(){func() { panic("failed") }, runtime.Goexit} {
			q := New[string]()
			q.Add("a")
			var worker sync.WaitGroup
			worker.Add(1)
			go func() {
				defer worker.Done()
				defer func() { _ = recover() }()
				for range q.Keys(t.Context()) {
					leave()
				}
			}()
			worker.Wait()
			require.Equal(t, 1, q.Failures("a"))
			time.Sleep(5 * time.Millisecond)
			synctest.Wait()
			require.Equal(t, []string{"a"}, takes(t, q))
			requireForgotten(t, q)
		}
	})
}

func TestKeysStopsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]()
		ctx, cancel := context.WithCancel(t.Context())
		var worked []string
		go func() {
			for key := range q.Keys(ctx) {
				worked = append(worked, key)
				cancel()
			}
			worked = append(worked, "end")
		}()
		synctest.Wait() // the worker is blocked until a key is ready
		q.Add("a")
		q.Add("b")
		synctest.Wait()
		require.Equal(t, []string{"a", "end"}, worked)
		require.Equal(t, []string{"b"}, takes(t, q))
	})
}

// endedUnheard simulates a canceled context whose AfterFunc callbacks have not run yet.
type endedUnheard struct {
	context.Context
	ended atomic.Bool
}

func (c *endedUnheard) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// A worker that is woken for a ready key may end because its context is canceled. Another blocked worker must then
// receive the key.
func TestStoppedWorkerLosesNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]()
		leaving := &endedUnheard{Context: t.Context()}
		worked := make(chan string, 1)
		var workers sync.WaitGroup
		for _, ctx := range []context.Context{leaving, t.Context()} {
			workers.Go(func() {
				for key := range q.Keys(ctx) {
					worked <- key
				}
			})
			synctest.Wait() // lets this worker block before the next worker starts
		}
		leaving.ended.Store(true)
		q.Add("a")
		require.Equal(t, "a", <-worked)
		q.Close()
		workers.Wait()
	})
}

// A key that is due must come before a key that is added later, even if the timer is late.
func TestLateTimerKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]()
		q.AddAfter("due", time.Second)
		q.timer.Stop()
		time.Sleep(2 * time.Second)
		q.Add("later")
		require.Equal(t, []string{"due", "later"}, takes(t, q))
		requireForgotten(t, q)
	})
}

func TestCloseDrainsReadyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]()
		for _, key := range []string{"a", "b", "c"} {
			q.Add(key)
		}
		q.AddAfter("late", time.Hour)
		begins := time.Now()
		b := begin(t, q)
		q.Add("a") // the key is active and becomes dirty
		q.Close()
		q.Close()
		q.Add("d")
		q.AddAfter("d", time.Second)
		q.Retry("d")
		var worked []string
		var worker sync.WaitGroup
		worker.Go(func() {
			for key := range q.Keys(t.Context()) {
				worked = append(worked, key)
				q.Retry(key) // a retry has no effect after Close
			}
		})
		synctest.Wait()
		require.Equal(t, []string{"b", "c"}, worked)
		b.end()
		worker.Wait()
		require.Equal(t, []string{"b", "c", "a"}, worked)
		require.Equal(t, begins, time.Now())
		requireForgotten(t, q)
		for range q.Keys(t.Context()) {
			t.Error("a closed queue must not yield keys")
		}
	})
}

// newQueue returns a queue with the given delays and retry limiter.
func newQueue[K comparable](baseDelay, maxDelay time.Duration, limiter *rate.Limiter) *Queue[K] {
	q := New[K]()
	q.baseDelay, q.maxDelay, q.limiter = baseDelay, maxDelay, limiter
	return q
}
