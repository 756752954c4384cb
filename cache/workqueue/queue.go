package workqueue

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Options of [New]. The zero value of a field is its default.
type Options struct {
	// BaseDelay is the delay after a key's first failure; each one after it in a row doubles it. Default 5 ms.
	BaseDelay time.Duration
	// MaxDelay is where the doubling ends. Default 1,000 s.
	MaxDelay time.Duration
	// Limiter paces the retries of all keys together, so that a server that fails everything is not overrun: each takes a
	// token, and a key whose token comes later than its own delay waits for it. Default 10 a second, 100 at once.
	Limiter *rate.Limiter
}

// Queue holds keys that ask to be worked on. Its size is bounded by the number of different keys. All methods may run
// concurrently. It has no goroutine of its own, and one timer.
type Queue[K comparable] struct {
	opts Options

	mu       sync.Mutex
	changed  sync.Cond // a key became ready, the queue was closed, or a context ended
	entries  map[K]*entry[K]
	ready    fifo[K]
	delayed  delays[K]
	timer    *time.Timer
	timerDue offset // when timer will fire; 0 if it will not
	created  time.Time
	active   int // keys
	closed   bool
}

// offset is a time since the creation of the queue. It needs a third of the memory of a time.Time.
type offset = time.Duration

// entry is a key that is ready, delayed, being worked on, or several of these: each is independent of the others, but a
// key that is being worked on is marked as dirty in place of being ready.
type entry[K comparable] struct {
	key      K
	failures int // in a row

	ready bool
	since offset    // when it became so
	next  *entry[K] // that became ready after it

	active bool
	dirty  bool // was added meanwhile
	failed bool // was given to Retry meanwhile

	delayed  bool
	due      offset
	sequence uint64 // among those that are due at the same time
	index    int    // in delays
}

// New returns an empty queue. opts may be nil.
func New[K comparable](opts *Options) *Queue[K] {
	q := &Queue[K]{entries: map[K]*entry[K]{}, created: time.Now()}
	q.changed.L = &q.mu
	if opts != nil {
		q.opts = *opts
	}
	q.opts.BaseDelay = cmp.Or(q.opts.BaseDelay, 5*time.Millisecond)
	q.opts.MaxDelay = cmp.Or(q.opts.MaxDelay, 1000*time.Second)
	if q.opts.Limiter == nil {
		q.opts.Limiter = rate.NewLimiter(10, 100)
	}
	return q
}

// Keys yields keys in the order in which they became ready, waiting for the next one as long as it takes, until ctx ends or
// the queue is closed and empty. Range over it in as many goroutines as there shall be workers. What is left when ctx ends
// stays in the queue.
//
// A body that panics has failed, as if it had called [Queue.Retry].
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

func (q *Queue[K]) runBody(e *entry[K], yield func(K) bool) (more bool) {
	finished := false
	defer func() { q.done(e, !finished) }()
	more = yield(e.key)
	finished = true
	return more
}

// take blocks until a key is ready. It returns nil if no key will be.
func (q *Queue[K]) take(ctx context.Context) *entry[K] {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if e := q.ready.pop(); e != nil {
			e.ready, e.active = false, true
			q.active++
			return e
		}
		if q.drained() {
			return nil
		}
		q.changed.Wait()
	}
	if q.ready.length > 0 {
		q.changed.Signal() // this worker may have been woken for a key, which another one must take now
	}
	return nil
}

// drained reports whether nothing can become ready any more: a key that is being worked on may be dirty.
func (q *Queue[K]) drained() bool { return q.closed && q.active == 0 && q.ready.length == 0 }

// done ends the work on a key.
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

// Close takes no keys any more and drops those that are delayed, retries too. Those that are ready are still yielded; then
// all Keys end.
func (q *Queue[K]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for q.delayed.Len() > 0 {
		e := q.delayed.pop()
		q.dropIdle(e)
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	q.changed.Broadcast()
}

// Len returns how many keys are ready and wait for a worker.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.length
}

// Oldest returns for how long the next key has been ready; 0 if none is. When it grows, there are too few workers.
func (q *Queue[K]) Oldest() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ready.first == nil {
		return 0
	}
	return q.now() - q.ready.first.since
}

func (q *Queue[K]) now() offset { return time.Since(q.created) }

func (q *Queue[K]) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}
