package cache

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Handler receives changes. Each func may be nil. The parameters initial and finalStateUnknown have the values of
// Change.Initial and Change.FinalStateUnknown. Objects are shared with the store and must not be modified.
//
// The informer calls the funcs of a handler one at a time. Each handler has a goroutine while changes are queued, or
// always if Resync is set. A func that ends its goroutine, for example with testing.T.FailNow, removes the handler.
//
// A func must not wait for a later call of the same handler. For example, it must not wait for Drain or Done of its own
// [Registration], or for [Informer.Synced]. Under [Block] it must not wait for a change of the store.
type Handler[T any] struct {
	Added    func(object T, initial bool)
	Modified func(old, new T)
	Deleted  func(object T, finalStateUnknown bool)
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

// HandlerOptions configures one handler. The zero value is valid.
type HandlerOptions[T any] struct {
	// Filter selects the objects that the handler receives. Nil selects all objects. An object that starts to match is
	// reported as Added, and an object that stops matching as Deleted. Filter runs in the goroutine of the handler,
	// after Policy was applied. It may use the informer. It must always return the same result for the same object.
	Filter func(T) bool

	Policy   Policy
	Capacity int // maximum number of queued changes under Block; zero means 1000; an event with several changes may exceed it

	// Resync is the interval after which the handler receives every object again as Modified. Zero means never. Use it
	// to reconcile with an external system that cannot be watched. While a resync is still queued, no other resync
	// begins. Under Block, a resync uses at most half of Capacity, so that other changes are queued next to it.
	Resync time.Duration

	// OnPanic receives the value and the stack of a panic in Filter or in a func of the handler. The handler then
	// continues with the next change. If Filter panicked, the object counts as matching, so that its change is not
	// lost. If OnPanic is nil, a panic ends the program.
	OnPanic func(value any, stack []byte)
}

const defaultCapacity = 1000

// Registration represents a handler or a Changes loop of an informer. All methods may be called concurrently.
type Registration[T any] struct {
	opts     HandlerOptions[T]
	queue    *queue[T]
	synced   chan struct{}
	done     chan struct{}
	doneOnce sync.Once

	handler    *Handler[T] // nil for a Changes loop
	key        func(T) lw.Key
	list       func() []T                          // lists the informer's store
	unregister func(r *Registration[T], drop bool) // unregister, resync and markSynced are methods of the informer
	resync     func(*Registration[T])
	markSynced func(*Registration[T])
	dropped    bool // the handler was removed; guarded by the informer's lock
	resyncing  []T  // objects that the current resync has not queued yet; used only by the consumer of the queue
}

func newRegistration[T lw.Keyed](i *Informer[T], opts *HandlerOptions[T]) *Registration[T] {
	r := &Registration[T]{
		synced: make(chan struct{}), done: make(chan struct{}),
		key: i.Store().key, list: i.Store().List, unregister: i.unregister, resync: i.resync, markSynced: i.markSynced,
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

func (r *Registration[T]) closeDone() { r.doneOnce.Do(func() { close(r.done) }) }

// Synced returns a channel that is closed when the handler has received the initial objects. These are the objects of
// the first list, or those in the store when the handler was added. The channel is never closed if the handler is
// removed first.
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// Remove removes the handler from the informer. It discards queued changes and prevents further calls. It does not wait
// for a call in progress. To wait for that call, use [Registration.Done]. A handler may remove itself. Repeated calls
// have no effect.
func (r *Registration[T]) Remove() {
	r.queue.close(true) // closes the queue first, so that an informer that is just starting cannot call the handler
	r.unregister(r, true)
}

// Drain removes the handler from the informer and blocks until the handler has processed its queued changes. If ctx is
// done first, Drain returns context.Cause(ctx). The informer must be running.
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

// Done returns a channel that is closed after the handler was removed and its last call has returned.
func (r *Registration[T]) Done() <-chan struct{} { return r.done }

// Len returns the number of queued changes, including changes that Filter will drop.
func (r *Registration[T]) Len() int {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.queue.length
}

// changes yields the queued changes until ctx is done or the queue is closed and empty. If isParked is not nil and
// Resync is not set, changes also ends when the queue is empty, and sets *isParked to true.
func (r *Registration[T]) changes(ctx context.Context, isParked *bool) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		timer := newResyncTimer(r.opts.Resync)
		for ctx.Err() == nil {
			next, found := r.queue.take(isParked != nil && timer.timer == nil)
			if len(r.resyncing) > 0 {
				r.resync(r)
			}
			switch {
			case found == queueClosed:
				r.closeDone()
				return
			case found == parked:
				*isParked = true
				return
			case found == queueEmpty:
				if timer.wait(ctx, r.queue.ready) {
					r.startResync()
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
				r.startResync()
			}
		}
	}
}

// startResync begins a resync, unless changes of the previous resync are still queued. Otherwise resyncs would pile up
// for a handler that takes longer than its interval.
func (r *Registration[T]) startResync() {
	if len(r.resyncing) == 0 && !r.queue.hasResyncs() {
		r.resyncing = r.list()
		r.resync(r)
	}
}

// run calls the funcs of the handler until ctx is done, the handler is removed or the queue is empty. It returns true
// only if the queue is empty.
func (r *Registration[T]) run(ctx context.Context) (parked bool) {
	for change := range r.changes(ctx, &parked) {
		r.recoverPanic(true, func() { r.handler.call(change) })
	}
	return parked
}

// enqueue queues a change. stored is the object that the store held before the change.
func (r *Registration[T]) enqueue(change Change[T], stored T) {
	object := change.New
	if change.Type == Deleted {
		object = change.Old
	}
	r.queue.add(r.key(object), queuedChange[T]{change, stored})
}
