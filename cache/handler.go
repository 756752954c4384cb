package cache

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Handler receives changes. Each func may be nil. initial and stale are [Change.Initial] and [Change.FinalStateUnknown].
// Objects are shared with the store: do not change them. The informer calls one func of a handler at a time, in a goroutine
// that belongs to the handler and exists only while changes wait. A func that ends its goroutine, for example by
// testing.T.FailNow, removes the handler.
//
// A func must not wait for a later call of the same handler. So it must not wait for [Registration.Drain] or Done of its own
// handler, for Synced of its informer or, under [Block], for the store to change.
type Handler[T any] struct {
	Added    func(object T, initial bool)
	Modified func(old, new T)
	Deleted  func(object T, stale bool)
}

func (h *Handler[T]) call(c Change[T]) {
	switch {
	case c.Type == Added && h.Added != nil:
		h.Added(c.New, c.Initial)
	case c.Type == Modified && h.Modified != nil:
		h.Modified(c.Old, c.New)
	case c.Type == Deleted && h.Deleted != nil:
		h.Deleted(c.Old, c.FinalStateUnknown)
	}
}

// HandlerOptions configure one handler. The zero value is valid.
type HandlerOptions[T any] struct {
	// Filter selects the objects of the handler; nil selects all. An object that begins to match is Added, and one that
	// ceases to match is Deleted. Filter runs where the funcs of the handler run, after changes were merged or counted by
	// Policy. It may use the informer, and must always return the same for the same object.
	Filter func(T) bool

	Policy   Policy
	Capacity int // under Block, how many changes may wait; 1000 if zero. All changes of one event are added together

	// Resync is the period after which the handler receives every object again, as Modified; zero for never. Use it to
	// reconcile with a system that nobody watches.
	Resync time.Duration

	// OnPanic receives the value and the stack of a panic in Filter or in a func of the handler. A change whose func panicked
	// is skipped. An object whose Filter panicked matches, so that its change is not lost. Then the handler continues. If
	// OnPanic is nil, a panic ends the program.
	OnPanic func(value any, stack []byte)
}

const defaultCapacity = 1000

// Registration is a handler, or a range over changes, at an informer. All methods may run concurrently.
type Registration[T any] struct {
	opts     HandlerOptions[T]
	queue    *queue[T]
	synced   chan struct{}
	done     chan struct{}
	doneOnce sync.Once

	handler    *Handler[T] // nil: it is a range
	key        func(T) lw.Key
	unregister func(r *Registration[T], drop bool) // callbacks of the informer
	resync     func(*Registration[T])
	markSynced func(*Registration[T])
	dropped    bool // under the informer's lock
}

func newRegistration[T lw.Keyed](i *Informer[T], opts *HandlerOptions[T]) *Registration[T] {
	r := &Registration[T]{
		synced: make(chan struct{}), done: make(chan struct{}),
		key: i.Store().key, unregister: i.unregister, resync: i.resync, markSynced: i.markSynced,
	}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Capacity <= 0 {
		r.opts.Capacity = defaultCapacity
	}
	r.queue = newQueue[T](r.opts.Policy, r.opts.Capacity)
	return r
}

// closeDone closes Done after the last call.
func (r *Registration[T]) closeDone() { r.doneOnce.Do(func() { close(r.done) }) }

// Synced returns a channel that is closed when the handler was told all that was there at its beginning: the first list, or
// what the store held when it was added. If the handler is removed before, it is never closed.
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// Remove takes the handler from the informer: no call begins any more, and what waits is dropped. It does not wait for a
// call that has begun; Done tells. A handler may remove itself. Removing it again does nothing.
func (r *Registration[T]) Remove() {
	r.queue.close(true) // first, as only what the informer knows is sure not to be started when a run has ended
	r.unregister(r, true)
}

// Drain takes the handler from the informer, lets it be told what waits, and returns when its last call has returned, or
// with context.Cause(ctx) when ctx ends before. It needs the informer to run.
func (r *Registration[T]) Drain(ctx context.Context) error {
	r.queue.close(false)
	r.unregister(r, false)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done returns a channel that is closed when the handler was removed and its last call has returned.
func (r *Registration[T]) Done() <-chan struct{} { return r.done }

// Len returns how many changes wait for the handler. It includes changes that Filter may drop.
func (r *Registration[T]) Len() int {
	length, _, _ := r.queue.stats()
	return length
}

// HighWater returns the most changes that ever waited for the handler.
func (r *Registration[T]) HighWater() int {
	_, most, _ := r.queue.stats()
	return most
}

// Lag returns for how long the oldest change has waited for the handler; zero if none does.
func (r *Registration[T]) Lag() time.Duration {
	_, _, lag := r.queue.stats()
	return lag
}

// changes yields the queued changes until ctx ends or the queue is closed and empty. If isParked is not nil, it also ends when
// the queue is empty, and sets *isParked.
func (r *Registration[T]) changes(ctx context.Context, isParked *bool) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		timer := newResyncTimer(r.opts.Resync)
		for ctx.Err() == nil {
			next, found := r.queue.take(isParked != nil && timer.timer == nil)
			switch {
			case found == queueClosed:
				r.closeDone()
				return
			case found == parked:
				*isParked = true
				return
			case found == queueEmpty:
				if timer.wait(ctx, r.queue.ready) {
					r.resync(r)
				}
			case next.isMark:
				close(r.synced)
				r.markSynced(r)
			default:
				if change, ok := r.filter(next.change); ok && !yield(change) {
					return
				}
			}
			if timer.takeDue() {
				r.resync(r)
			}
		}
	}
}

// run calls the handler's functions until ctx ends, the handler is removed or the queue is empty.
func (r *Registration[T]) run(ctx context.Context) (parked bool) {
	for change := range r.changes(ctx, &parked) {
		r.recoverPanic(true, func() { r.handler.call(change) })
	}
	return parked
}

// enqueue queues a change. stored is the object that the store held before.
func (r *Registration[T]) enqueue(change Change[T], stored T) {
	object := change.New
	if change.Type == Deleted {
		object = change.Old
	}
	r.queue.add(r.key(object), queuedChange[T]{change, stored})
}
