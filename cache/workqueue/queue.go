package workqueue

import (
	"context"
	"iter"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Queue holds keys for workers. It holds each key at most once, so its size is limited by the number of distinct keys.
// All methods may be called concurrently. A Queue uses one timer and no goroutine.
type Queue[K comparable] struct {
	baseDelay, maxDelay time.Duration // delay after the first failure of a key, and the longest delay
	limiter             *rate.Limiter // limits the rate of retries across all keys

	mu      sync.Mutex
	changed sync.Cond // signals that a key became ready, the queue was closed or drained, or a context was canceled
	entries map[K]*entry[K]
	ready   []*entry[K] // in the order in which the keys became ready
	delayed []*entry[K] // sorted by due time; a slice is enough, because most new keys have the latest due time
	timer   *time.Timer // runs onTimer when the first delayed key is due, or earlier
	active  int         // number of keys that workers are processing; a closed queue is drained only when it is zero
	closed  bool
}

// entry is the state of a key. A key may be delayed and also ready or active. If a key is added while it is active, it
// becomes dirty instead of ready.
type entry[K comparable] struct {
	key      K
	failures int // consecutive failures

	ready bool

	active bool
	dirty  bool // Add was called while the key was active
	failed bool // Retry was called while the key was active

	delayed bool
	due     time.Time
}

// New returns an empty queue with the delays of client-go's default rate limiter. A key that fails is retried after 5 ms.
// Each consecutive failure doubles the delay, up to 1,000 s. To protect a server that fails every request, the queue
// limits the retries of all keys to 10 per second, with a burst of 100. For other delays, count the failures of each key
// yourself and call [Queue.AddAfter] instead of [Queue.Retry], because [Queue.Failures] counts only Retry and panics.
func New[K comparable]() *Queue[K] {
	q := &Queue[K]{
		baseDelay: 5 * time.Millisecond, maxDelay: 1000 * time.Second, limiter: rate.NewLimiter(10, 100),
		entries: map[K]*entry[K]{},
	}
	q.changed.L = &q.mu
	q.timer = time.AfterFunc(time.Hour, q.onTimer)
	q.timer.Stop() // until a key is delayed
	return q
}

// Keys yields keys in the order in which they became ready, and blocks until more keys are ready. It ends when ctx is
// done, or when the queue is closed and all work is finished. Each goroutine that ranges over Keys is a worker. If ctx
// is done, the remaining keys stay in the queue.
//
// A loop body that panics counts as failed, as if it had called [Queue.Retry].
func (q *Queue[K]) Keys(ctx context.Context) iter.Seq[K] {
	return func(yield func(K) bool) {
		stop := context.AfterFunc(ctx, q.wakeAll)
		defer stop()
		for more := true; more; {
			e := q.take(ctx)
			if e == nil {
				return
			}
			more = q.runBody(e, yield)
		}
	}
}

// runBody runs the loop body for a key. It reports a body that does not return, because of a panic or runtime.Goexit, as
// failed.
func (q *Queue[K]) runBody(e *entry[K], yield func(K) bool) (more bool) {
	finished := false
	defer func() { q.done(e, !finished) }()
	more = yield(e.key)
	finished = true
	return more
}

// take blocks until a key is ready and returns its entry. It returns nil if ctx is done or the queue is drained.
func (q *Queue[K]) take(ctx context.Context) *entry[K] {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if len(q.ready) > 0 {
			e := q.ready[0]
			q.ready[0] = nil // lets the garbage collector free the entry, because the rest of the slice keeps the array
			q.ready = q.ready[1:]
			e.ready, e.active = false, true
			q.active++
			return e
		}
		if q.drained() {
			return nil
		}
		q.changed.Wait()
	}
	if len(q.ready) > 0 {
		q.changed.Signal() // this worker may have received the signal for the ready keys, so it must wake another worker
	}
	return nil
}

// drained reports whether the queue is closed, no key is ready, and no worker is processing a key. A key that a worker is
// processing can still become ready.
func (q *Queue[K]) drained() bool { return q.closed && q.active == 0 && len(q.ready) == 0 }

// done ends the work on a key. If the work failed, done retries the key.
func (q *Queue[K]) done(e *entry[K], failed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	failed = failed || e.failed
	dirty := e.dirty
	e.active, e.dirty, e.failed = false, false, false
	q.active--
	if failed {
		q.retry(e)
	} else {
		e.failures = 0
	}
	if dirty {
		q.makeReady(e)
	}
	q.dropIdle(e)
	if q.drained() {
		q.changed.Broadcast()
	}
}

// Close rejects further keys and drops delayed keys, including retries. Keys still yields the ready keys. Then all
// loops over Keys end.
func (q *Queue[K]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for len(q.delayed) > 0 {
		q.dropIdle(q.popDelayed())
	}
	q.timer.Stop()
	q.changed.Broadcast()
}

// Len returns the number of ready keys that no worker has taken.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ready)
}

// wakeAll wakes all workers, so that workers whose context is done can end.
func (q *Queue[K]) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}
