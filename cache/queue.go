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

// queuedChange is a change with the previously stored object. Change.Old of a Deleted is the final state instead.
type queuedChange[T any] struct {
	Change[T]
	stored T
}

// item is one change that waits for its handler, in a doubly linked list.
type item[T any] struct {
	change     queuedChange[T]
	key        lw.Key
	queuedAt   time.Time // when the oldest change in it was queued
	isMark     bool      // the end of the initial changes instead of a change
	deletion   *item[T]  // under Coalesce, the queued Deleted of the same key; this is then an Added
	prev, next *item[T]
}

// queue holds the changes that wait for one handler. One goroutine adds, under the informer's lock; one takes, if any.
type queue[T any] struct {
	policy   Policy
	capacity int

	mu            lock.Mutex
	head          item[T]             // anchor of the list
	byKey         map[lw.Key]*item[T] // under Coalesce, the last item of each key
	length        int
	highWater     int
	closed        bool          // nothing is added any more
	startConsumer func()        // starts the consuming goroutine; nil while none may be started
	consuming     bool          // the started goroutine is running
	ready         chan struct{} // has one element after an item was added or the queue was closed
	freed         chan struct{} // has one element after an item was removed or the queue was closed
}

func newQueue[T any](policy Policy, capacity int) *queue[T] {
	q := &queue[T]{policy: policy, capacity: capacity, ready: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
	q.head.prev, q.head.next = &q.head, &q.head
	if policy == Coalesce {
		q.byKey = make(map[lw.Key]*item[T])
	}
	return q
}

// add queues a change, or merges it into the queued change of the same key.
func (q *queue[T]) add(key lw.Key, change queuedChange[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if waiting := q.byKey[key]; waiting != nil {
		q.merge(waiting, change)
		return
	}
	q.append(&item[T]{change: change, key: key, queuedAt: time.Now()})
}

// addMark queues the end of the initial changes.
func (q *queue[T]) addMark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.append(&item[T]{isMark: true, queuedAt: time.Now()})
	}
}

func (q *queue[T]) append(i *item[T]) {
	i.prev, i.next = q.head.prev, &q.head
	i.prev.next, i.next.prev = i, i
	if !i.isMark {
		if q.length++; q.policy == Coalesce {
			q.byKey[i.key] = i
		}
		q.highWater = max(q.highWater, q.length)
	}
	q.signal()
}

// signal wakes the consuming goroutine, or starts it.
func (q *queue[T]) signal() {
	if q.startConsumer != nil && !q.consuming {
		q.consuming = true
		q.startConsumer()
	}
	notify(q.ready)
}

// setConsumer calls start whenever there are items and no goroutine consumes them. An idle handler therefore needs no goroutine.
func (q *queue[T]) setConsumer(start func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.startConsumer, q.consuming = start, false
	if q.head.next != &q.head || q.closed {
		q.signal()
	}
}

// clearConsumer ends setConsumer. It reports whether a goroutine is still consuming.
func (q *queue[T]) clearConsumer() (taking bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.startConsumer = nil
	return q.consuming
}

// merge merges a change into the last item of its key. A Deleted is never merged with the Added that follows it, because
// the handler would skip its cleanup.
func (q *queue[T]) merge(waiting *item[T], later queuedChange[T]) {
	first := waiting.change
	switch {
	case later.Resync: // the waiting change has the same object, or it is gone
	case first.Resync:
		waiting.change = later
	case first.Type == Deleted:
		q.append(&item[T]{change: later, key: waiting.key, queuedAt: time.Now(), deletion: waiting})
	case first.Type == Added && later.Type == Deleted:
		q.unlink(waiting)
	case first.Type == Added:
		waiting.change.New = later.New
	case later.Type == Deleted:
		waiting.change = queuedChange[T]{later.Change, first.stored}
	default:
		waiting.change = queuedChange[T]{Change[T]{Type: Modified, Old: first.stored, New: later.New}, first.stored}
	}
}

// unlink removes an item.
func (q *queue[T]) unlink(i *item[T]) {
	i.prev.next, i.next.prev = i.next, i.prev
	if i.isMark {
		return
	}
	q.length--
	switch last := q.byKey[i.key]; {
	case last == nil: // not under Coalesce
	case last != i:
		last.deletion = nil
	case i.deletion != nil:
		q.byKey[i.key] = i.deletion
	default:
		delete(q.byKey, i.key)
	}
}

// takeResult is the outcome of queue.take.
type takeResult uint8

const (
	tookItem    takeResult = iota
	queueEmpty             // yet
	queueClosed            // and nothing will come, because the queue is closed
	parked                 // nothing; the goroutine must end, and another one starts when something is added
)

// take removes the first item. If there is none and mayPark is set, the goroutine must end.
func (q *queue[T]) take(mayPark bool) (i *item[T], found takeResult) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i = q.head.next; i == &q.head {
		switch {
		case q.closed:
			return nil, queueClosed
		case mayPark && q.startConsumer != nil:
			q.consuming = false
			return nil, parked
		}
		return nil, queueEmpty
	}
	q.unlink(i)
	if q.length < q.capacity {
		notify(q.freed)
	}
	return i, tookItem
}

// full reports whether the informer must wait for capacity.
func (q *queue[T]) full() bool {
	if q.policy != Block {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length >= q.capacity && !q.closed
}

// close rejects further items. The queued items remain unless they are discarded.
func (q *queue[T]) close(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed = true; discard {
		q.head.prev, q.head.next = &q.head, &q.head
		q.length = 0
		clear(q.byKey)
	}
	q.signal()
	notify(q.freed)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// stats returns the number of queued changes, its maximum, and the age of the oldest change.
func (q *queue[T]) stats() (length, most int, lag time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.length > 0 {
		lag = time.Since(q.head.next.queuedAt)
	}
	return q.length, q.highWater, lag
}
