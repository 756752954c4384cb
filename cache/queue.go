package cache

import (
	"maps"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Policy determines how changes are queued for a slow handler.
type Policy uint8

const (
	// Coalesce merges the queued changes of a key into one. The merged change leads from the last state that the
	// handler received to the current state. An object that was deleted and recreated keeps two queued changes, Deleted
	// and then Added. An object that was added and deleted while the handler was busy is not reported. The queue holds
	// at most two changes per key.
	Coalesce Policy = iota
	// Block queues up to HandlerOptions.Capacity changes. While the queue is full, the informer does not read events.
	// The other handlers then receive no changes, and the server may end the watch.
	Block
	// Unbounded queues every change. If a handler cannot keep up, its queue grows without limit.
	Unbounded
)

// queuedChange is a change together with the object that the store held before the change. A filter needs the stored
// object to decide whether the handler knows the object. In a Deleted change, Change.Old is the object in the event,
// which may be newer and may match differently. A merged change contains the stored object of the first of its changes.
type queuedChange[T any] struct {
	Change[T]
	stored T
}

// item is an element of a queue: a change, or the mark that ends the initial changes. The items of a queue form a
// doubly linked list. Items are small and do not contain the key, because the first list queues one item per object and
// handler.
type item[T any] struct {
	change     queuedChange[T]
	deletion   *item[T] // under Coalesce, the queued Deleted change of the same key that precedes this Added change
	prev, next *item[T]
}

// isMark reports whether the item is the mark that ends the initial changes. The type of a change is never zero.
func (i *item[T]) isMark() bool { return i.change.Type == 0 }

// queue holds the changes for one handler. Only one goroutine at a time adds items, under the informer's lock. At most
// one goroutine takes items: the consumer.
//
// The consumer of a handler is a goroutine that the queue starts with startConsumer when the first item is queued, or at
// once if permanent is set. If take finds the queue empty, it may park the consumer: the goroutine ends, and the next item
// starts another one. A consumer that ends for another reason must call release. The consumer of a Changes loop is the
// goroutine that runs the loop. It has no startConsumer, so take never parks it.
type queue[T any] struct {
	policy    Policy
	capacity  int
	keyOf     func(T) lw.Key
	permanent bool // whether the consumer also runs while the queue is empty, for example because a handler needs resyncs

	mu            sync.Mutex
	head          item[T]             // sentinel of the circular linked list
	byKey         map[lw.Key]*item[T] // under Coalesce, the last item of each key
	peak          int                 // maximum size of byKey since it was created
	length        int
	closed        bool          // new items are ignored
	startConsumer func()        // starts the consumer goroutine; called under mu; nil while none may start
	consuming     bool          // a handler's consumer goroutine is running; always false for a Changes loop
	ready         chan struct{} // receives a value when an item is added or the queue is closed
	freed         chan struct{} // receives a value when the queue has capacity or is closed
	done          chan struct{} // closed when the queue is closed and the handler's consumer, if any, has ended
}

// newQueue returns an empty queue. Its channels ready and freed have a buffer of one value, so that a signal is not lost
// while the receiver is busy.
func newQueue[T any](policy Policy, capacity int, keyOf func(T) lw.Key) *queue[T] {
	q := &queue[T]{policy: policy, capacity: capacity, keyOf: keyOf}
	q.ready, q.freed, q.done = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	q.head.prev, q.head.next = &q.head, &q.head
	if policy == Coalesce {
		q.byKey = make(map[lw.Key]*item[T])
	}
	return q
}

// add queues a change or merges it into the queued change of the same key.
func (q *queue[T]) add(change queuedChange[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if q.policy == Coalesce {
		if waiting := q.byKey[q.key(&change)]; waiting != nil {
			q.merge(waiting, change)
			return
		}
	}
	q.append(&item[T]{change: change})
}

// key returns the key of the object that changed.
func (q *queue[T]) key(change *queuedChange[T]) lw.Key {
	if change.Type == lw.Deleted {
		return q.keyOf(change.Old)
	}
	return q.keyOf(change.New)
}

// addMark queues the mark that ends the initial changes.
func (q *queue[T]) addMark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.append(&item[T]{})
	}
}

func (q *queue[T]) append(i *item[T]) {
	i.prev, i.next = q.head.prev, &q.head
	i.prev.next, i.next.prev = i, i
	if !i.isMark() {
		q.length++
		if q.policy == Coalesce {
			q.byKey[q.key(&i.change)] = i
			q.peak = max(q.peak, len(q.byKey))
		}
	}
	q.signal()
}

// signal wakes the consumer. For a handler without a running consumer, signal starts one. The caller must hold q.mu.
func (q *queue[T]) signal() {
	if q.startConsumer != nil && !q.consuming {
		q.consuming = true
		q.startConsumer()
	}
	notify(q.ready)
}

// setConsumer sets the func that starts a consumer goroutine. If changes are already queued, or if permanent is set, it
// starts a consumer. If start is nil, the queue starts no more consumers.
func (q *queue[T]) setConsumer(start func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.startConsumer = start
	if q.head.next != &q.head || q.permanent && !q.closed {
		q.signal()
	}
}

// release records that the consumer goroutine has ended without being parked, for example because the run ended. If the
// queue is closed, the last call of the handler has returned, so release closes done.
func (q *queue[T]) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.consuming = false
	if q.closed {
		close(q.done)
	}
}

// merge merges a change into the last item of its key. It keeps a Deleted change separate from a later Added change, so
// that the handler cleans up after the deleted object. If the object was added and then deleted, merge removes the
// item, because the handler has never received the object.
func (q *queue[T]) merge(waiting *item[T], later queuedChange[T]) {
	first := waiting.change
	switch {
	case first.Type == lw.Deleted:
		q.append(&item[T]{change: later, deletion: waiting})
	case first.Type == lw.Added && later.Type == lw.Deleted:
		q.unlink(waiting)
	case first.Type == lw.Added:
		waiting.change.New = later.New
	case later.Type == lw.Deleted:
		waiting.change = queuedChange[T]{later.Change, first.stored}
	default:
		waiting.change = queuedChange[T]{Change[T]{Type: lw.Modified, Old: first.stored, New: later.New}, first.stored}
	}
}

// unlink removes an item from the list and from byKey.
func (q *queue[T]) unlink(i *item[T]) {
	i.prev.next, i.next.prev = i.next, i.prev
	if i.isMark() {
		return
	}
	q.length--
	if q.policy != Coalesce {
		return
	}
	key := q.key(&i.change)
	switch last := q.byKey[key]; {
	case last != i:
		last.deletion = nil
	case i.deletion != nil:
		q.byKey[key] = i.deletion
	default:
		delete(q.byKey, key)
		q.shrink()
	}
}

const minPeak = 1024 // a map that never had more keys is not recreated, because it keeps little memory

// shrink recreates byKey after a burst, because a map keeps the memory of its deleted keys. It waits until at most an
// eighth of the keys is left, so that the cost of copying them is small.
func (q *queue[T]) shrink() {
	if q.peak < minPeak || q.peak < 8*len(q.byKey) {
		return
	}
	made := make(map[lw.Key]*item[T], len(q.byKey))
	maps.Copy(made, q.byKey)
	q.byKey, q.peak = made, len(made)
}

// takeResult is the outcome of queue.take.
type takeResult uint8

const (
	tookItem    takeResult = iota
	queueEmpty             // the queue is empty but not closed
	queueClosed            // the queue is closed
	queueParked            // the queue is empty and the goroutine must end; the next item will start another one
)

// take removes and returns the first item. If the queue is empty and mayPark is true, take parks the consumer of a
// handler: it returns queueParked, and the calling goroutine must end without calling release.
func (q *queue[T]) take(mayPark bool) (i *item[T], found takeResult) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i = q.head.next
	if i == &q.head {
		switch {
		case q.closed:
			return nil, queueClosed
		case mayPark && q.startConsumer != nil:
			q.consuming = false // set while mu is held, so that add sees that the next item needs a new consumer
			return nil, queueParked
		}
		return nil, queueEmpty
	}
	q.unlink(i)
	if q.length < q.capacity {
		notify(q.freed)
	}
	return i, tookItem
}

// full reports whether the informer must block until the queue has capacity.
func (q *queue[T]) full() bool {
	if q.policy != Block {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length >= q.capacity && !q.closed
}

// close discards all items and makes the queue ignore new items.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed, q.startConsumer = true, nil
	q.head.prev, q.head.next = &q.head, &q.head
	q.length, q.byKey = 0, nil
	if !q.consuming {
		close(q.done)
	}
	notify(q.ready)
	notify(q.freed)
}

// notify sends a value unless the buffer of c already contains one.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
