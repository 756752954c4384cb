package cache

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Change is what a handler is told. Those of one key are a legal sequence: Added, any number of Updated, Deleted, and so on.
type Change[T any] struct {
	Type DeltaType
	Old  T // for Updated what the handler was told before; for Deleted the last state known, which a server tells with the deletion
	New  T // for Added and Updated

	Initial bool // Added: the object was there before the handler, or came with the first list
	Stale   bool // Deleted: the deletion itself was not seen, and Old may be older than what was deleted
	Resync  bool // Updated: nothing changed, Old and New are the same; see HandlerOptions.Resync

	held T // Updated, Deleted: what the store held before, and the handler was told
}

// Handler is told what changes. Each func may be nil. They are called one after the other, in a goroutine of the handler's
// own, which is there while there is something to tell. A func that ends its goroutine, as testing.T.FailNow does, removes
// the handler.
//
// A func must not wait for what comes after it: for [Registration.Drain] or Done of its own handler, for Synced of its informer;
// or, under [Block], for the store to go on.
type Handler[T any] struct {
	Added   func(object T, initial bool)
	Updated func(old, new T)
	Deleted func(object T, stale bool)
}

func (h *Handler[T]) call(c Change[T]) {
	switch {
	case c.Type == Added && h.Added != nil:
		h.Added(c.New, c.Initial)
	case c.Type == Updated && h.Updated != nil:
		h.Updated(c.Old, c.New)
	case c.Type == Deleted && h.Deleted != nil:
		h.Deleted(c.Old, c.Stale)
	}
}

// HandlerOptions configure one handler. The zero value is good.
type HandlerOptions[T any] struct {
	// Filter chooses the objects that the handler is told of; nil: all. One that begins to match is added, one that ceases
	// to is deleted. It must always say the same of the same object, and runs where the stream is read: let it be quick.
	Filter func(T) bool

	Policy   Policy
	Capacity int // under Block, how many changes may wait; 1000 if zero. What one event brings is added whole.

	// Resync tells the handler of every object again, as Updated to what it is, each time so much time has passed; zero:
	// never. It is for handlers that reconcile with something that nobody watches.
	Resync time.Duration

	// OnPanic, if not nil, is told what a handler's func panicked with, and its stack; the change is skipped, and the
	// handler goes on. Without it a panic ends the program, as anywhere else.
	OnPanic func(value any, stack []byte)
}

const defaultCapacity = 1000

// Registration is a handler, or a range over changes, at an informer. All methods may run concurrently.
type Registration[T any] struct {
	opts   HandlerOptions[T]
	queue  *queue[T]
	synced chan struct{}
	done   chan struct{}
	over   sync.Once

	handler *Handler[T] // nil: it is a range
	key     func(T) lw.Key
	forget  func(r *Registration[T], drop bool) // these are the informer's
	resync  func(*Registration[T])
	heard   func(*Registration[T])
	dropped bool // under the informer's lock
}

func newRegistration[T lw.Keyed](i *Informer[T], opts *HandlerOptions[T]) *Registration[T] {
	r := &Registration[T]{
		synced: make(chan struct{}), done: make(chan struct{}),
		key: i.Store().key, forget: i.forget, resync: i.resync, heard: i.heard,
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

// finish says that no call will begin any more.
func (r *Registration[T]) finish() { r.over.Do(func() { close(r.done) }) }

// Synced returns a channel that is closed when the handler was told all that was there at its beginning: the first list, or
// what the store held when it was added. If the handler is removed before, it is never closed.
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// Remove takes the handler from the informer: no call begins any more, and what waits is dropped. It does not wait for a
// call that has begun; Done tells. A handler may remove itself. Removing it again does nothing.
func (r *Registration[T]) Remove() {
	r.queue.close(true) // first, as only what the informer knows is sure not to be started when a run has ended
	r.forget(r, true)
}

// Drain takes the handler from the informer, lets it be told what waits, and returns when its last call has returned, or
// with context.Cause(ctx) when ctx ends before. It needs the informer to run.
func (r *Registration[T]) Drain(ctx context.Context) error {
	r.queue.close(false)
	r.forget(r, false)
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done returns a channel that is closed when the handler was removed and its last call has returned.
func (r *Registration[T]) Done() <-chan struct{} { return r.done }

// Len returns how many changes wait for the handler.
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

// changes yields what waits, until ctx ends or the queue is closed and empty; or until nothing waits and who takes may come
// back for what comes later, which is noted in parked, if it is not nil.
func (r *Registration[T]) changes(ctx context.Context, parked *bool) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		timer := newResyncTimer(r.opts.Resync)
		for ctx.Err() == nil {
			next, done := r.queue.take()
			switch {
			case done:
				r.finish()
				return
			case next == nil:
				if parked != nil && timer.timer == nil && r.queue.park() {
					*parked = true
					return
				}
				if timer.wait(ctx, r.queue.arrived) {
					r.resync(r)
				}
			case next.mark:
				close(r.synced)
				r.heard(r)
			default:
				if !yield(next.change) {
					return
				}
			}
			if timer.due() {
				r.resync(r)
			}
		}
	}
}

// run calls the handler's funcs until ctx ends, the handler is removed, or it is parked, as nothing waits.
func (r *Registration[T]) run(ctx context.Context) (parked bool) {
	for change := range r.changes(ctx, &parked) {
		r.guarded(change)
	}
	return parked
}

func (r *Registration[T]) guarded(change Change[T]) {
	if r.opts.OnPanic != nil {
		defer func() {
			if value := recover(); value != nil {
				stack := make([]byte, 64<<10)
				r.opts.OnPanic(value, stack[:runtime.Stack(stack, false)])
			}
		}()
	}
	r.handler.call(change)
}

// tell queues a delta, as far as the filter lets it through.
func (r *Registration[T]) tell(change Change[T]) {
	if filter := r.opts.Filter; filter != nil {
		was := change.Type != Added && filter(change.held)
		is := change.Type != Deleted && filter(change.New)
		switch {
		case !was && !is:
			return
		case !was:
			change = Change[T]{Type: Added, New: change.New, Initial: change.Initial}
		case !is:
			change = Change[T]{Type: Deleted, Old: change.Old, Stale: change.Stale, held: change.held}
		}
	}
	object := change.New
	if change.Type == Deleted {
		object = change.Old
	}
	r.queue.add(r.key(object), change)
}
