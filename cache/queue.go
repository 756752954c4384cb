package cache

import (
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Policy says what becomes of changes that a handler is too slow for.
type Policy uint8

const (
	// Coalesce keeps one change for each key: from what the handler was told last to what is there now. An object that
	// came and went meanwhile is never told. Memory is bounded by the number of keys.
	Coalesce Policy = iota
	// Block keeps a number of changes, HandlerOptions.Capacity, and then reads no more events until the handler has caught
	// up with some: all other handlers, and in the end the server, wait for this one. A slow handler loses the watch.
	Block
	// KeepAll keeps every change, without a bound: a handler that is too slow for long takes all memory.
	KeepAll
)

// item is one change that waits for its handler, in a doubly linked list.
type item[T any] struct {
	change     Change[T]
	key        lw.Key
	since      time.Time // when the oldest change in it came
	mark       bool      // no change: all that was there at the beginning is before it
	prev, next *item[T]
}

// queue holds the changes that wait for one handler. One goroutine adds, under the informer's lock; one takes, if any.
type queue[T any] struct {
	policy   Policy
	capacity int

	mu      sync.Mutex
	ring    item[T]             // the list's anchor
	pending map[lw.Key]*item[T] // under Coalesce
	length  int
	most    int
	closed  bool          // nothing is added any more
	start   func()        // starts a goroutine that takes; nil: nobody is to take now, or who does is there anyway
	taking  bool          // the goroutine that was started takes
	arrived chan struct{} // has one element when something was added, or the queue was closed
	room    chan struct{} // has one element when something was taken, or the queue was closed
}

func newQueue[T any](policy Policy, capacity int) *queue[T] {
	q := &queue[T]{policy: policy, capacity: capacity, arrived: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	q.ring.prev, q.ring.next = &q.ring, &q.ring
	if policy == Coalesce {
		q.pending = make(map[lw.Key]*item[T])
	}
	return q
}

// add puts a change behind all others, or into the one that waits for the same key.
func (q *queue[T]) add(key lw.Key, change Change[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if waiting := q.pending[key]; waiting != nil {
		q.merge(waiting, change)
		return
	}
	q.append(&item[T]{change: change, key: key, since: time.Now()})
}

// addMark puts the mark of the beginning's end behind all changes.
func (q *queue[T]) addMark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.append(&item[T]{mark: true, since: time.Now()})
	}
}

func (q *queue[T]) append(i *item[T]) {
	i.prev, i.next = q.ring.prev, &q.ring
	i.prev.next, i.next.prev = i, i
	if !i.mark {
		if q.length++; q.policy == Coalesce {
			q.pending[i.key] = i
		}
		q.most = max(q.most, q.length)
	}
	q.arrive()
}

// arrive lets the goroutine that takes know that there is something to do, and starts it if there is none.
func (q *queue[T]) arrive() {
	if q.start != nil && !q.taking {
		q.taking = true
		q.start()
	}
	notify(q.arrived)
}

// serve lets start bring about a goroutine that takes, whenever there is something to do, until leave. So a handler that has
// nothing to do has no stack, which would be as much memory as all else that it needs.
func (q *queue[T]) serve(start func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start, q.taking = start, false
	if q.ring.next != &q.ring || q.closed {
		q.arrive()
	}
}

// leave ends serve, and tells whether a goroutine is taking still.
func (q *queue[T]) leave() (taking bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start = nil
	return q.taking
}

// park reports that there is nothing to do, so that the goroutine that takes ends, to be started again; unless that would
// not come about.
func (q *queue[T]) park() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.start == nil || q.ring.next != &q.ring || q.closed {
		return false
	}
	q.taking = false
	return true
}

// merge makes one change of two of the same key, from what the handler knows to what is there now.
func (q *queue[T]) merge(waiting *item[T], later Change[T]) {
	first := waiting.change
	switch {
	case later.Resync: // what waits tells more
	case first.Resync:
		waiting.change = later
	case first.Type == Added && later.Type == Deleted:
		q.unlink(waiting)
	case first.Type == Added:
		waiting.change.New = later.New
	case later.Type == Deleted:
		waiting.change = Change[T]{Type: Deleted, Old: later.Old, Stale: later.Stale, held: first.held}
	default: // updated again, or deleted and made anew
		waiting.change = Change[T]{Type: Updated, Old: first.held, New: later.New, held: first.held}
	}
}

// unlink takes an item out, and forgets its key.
func (q *queue[T]) unlink(i *item[T]) {
	i.prev.next, i.next.prev = i.next, i.prev
	if !i.mark {
		q.length--
		delete(q.pending, i.key)
	}
}

// take removes the first item. Without one, done tells whether none will come any more.
func (q *queue[T]) take() (i *item[T], done bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i = q.ring.next; i == &q.ring {
		return nil, q.closed
	}
	q.unlink(i)
	if q.length < q.capacity {
		notify(q.room)
	}
	return i, false
}

// full reports whether who adds should wait for room.
func (q *queue[T]) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.policy == Block && q.length >= q.capacity && !q.closed
}

// close lets nothing in any more; what waits can still be taken, unless it is discarded.
func (q *queue[T]) close(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed = true; discard {
		q.ring.prev, q.ring.next = &q.ring, &q.ring
		q.length = 0
		clear(q.pending)
	}
	q.arrive()
	notify(q.room)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// stats returns how many changes wait, how many did at most, and for how long the first has waited.
func (q *queue[T]) stats() (length, most int, lag time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.length > 0 {
		lag = time.Since(q.ring.next.since)
	}
	return q.length, q.most, lag
}
