package cache

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Policy chooses how changes wait for a slow handler.
type Policy uint8

const (
	// Coalesce merges the waiting changes of a key. One change waits, from the state that the handler knows to the state of
	// the store. Two wait if the object was deleted and added again: Deleted, then Added. An object that came and went while
	// the handler was busy is never reported. Memory is bounded by the number of keys.
	Coalesce Policy = iota
	// Block keeps up to HandlerOptions.Capacity changes. When the queue is full, the informer reads no events until the
	// handler takes a change. All other handlers wait too, and the server may end the watch.
	Block
	// Unbounded keeps every change. Its memory has no bound, so a handler that stays too slow uses all of it.
	Unbounded
)

// queued is a change with the object that the store held before. A Deleted has the final state of that object instead.
type queued[T any] struct {
	Change[T]
	held T
}

// item is one change that waits for its handler, in a doubly linked list.
type item[T any] struct {
	change     queued[T]
	key        lw.Key
	since      time.Time // when the oldest change in it came
	mark       bool      // no change, but the end of the initial changes
	before     *item[T]  // under Coalesce, the Deleted of the same key that waits too; this is then an Added
	prev, next *item[T]
}

// queue holds the changes that wait for one handler. One goroutine adds, under the informer's lock; one takes, if any.
type queue[T any] struct {
	policy   Policy
	capacity int

	mu      lock.Mutex
	ring    item[T]             // the list's anchor
	pending map[lw.Key]*item[T] // under Coalesce, the last item of each key
	length  int
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

// add appends a change, or merges it into the change that waits for the same key.
func (q *queue[T]) add(key lw.Key, change queued[T]) {
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

// merge merges a change into the last item of its key. A Deleted is never merged with the Added that follows it, because
// the handler would skip its cleanup.
func (q *queue[T]) merge(waiting *item[T], later queued[T]) {
	first := waiting.change
	switch {
	case later.Resync: // the waiting change has the same object, or it is gone
	case first.Resync:
		waiting.change = later
	case first.Type == Deleted:
		q.append(&item[T]{change: later, key: waiting.key, since: time.Now(), before: waiting})
	case first.Type == Added && later.Type == Deleted:
		q.unlink(waiting)
	case first.Type == Added:
		waiting.change.New = later.New
	case later.Type == Deleted:
		waiting.change = queued[T]{later.Change, first.held}
	default:
		waiting.change = queued[T]{Change[T]{Type: Modified, Old: first.held, New: later.New}, first.held}
	}
}

// unlink removes an item.
func (q *queue[T]) unlink(i *item[T]) {
	i.prev.next, i.next.prev = i.next, i.prev
	if i.mark {
		return
	}
	q.length--
	switch last := q.pending[i.key]; {
	case last == nil: // not under Coalesce
	case last != i:
		last.before = nil
	case i.before != nil:
		q.pending[i.key] = i.before
	default:
		delete(q.pending, i.key)
	}
}

// taken is what take found.
type taken uint8

const (
	anItem  taken = iota
	nothing       // yet
	atEnd         // and nothing will come, because the queue is closed
	parked        // nothing; the goroutine must end, and another one starts when something is added
)

// take removes the first item. Without one it parks the goroutine that takes, if it may.
func (q *queue[T]) take(mayPark bool) (i *item[T], found taken) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i = q.ring.next; i == &q.ring {
		switch {
		case q.closed:
			return nil, atEnd
		case mayPark && q.start != nil:
			q.taking = false
			return nil, parked
		}
		return nil, nothing
	}
	q.unlink(i)
	if q.length < q.capacity {
		notify(q.room)
	}
	return i, anItem
}

// full reports whether the informer must wait for room.
func (q *queue[T]) full() bool {
	if q.policy != Block {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length >= q.capacity && !q.closed
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

// stats returns how many changes wait, and how long the first one has waited.
func (q *queue[T]) stats() (length int, lag time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.length > 0 {
		lag = time.Since(q.ring.next.since)
	}
	return q.length, lag
}
