package cache

import (
	"context"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Handler receives changes. Each func may be nil. The parameters initial and finalStateUnknown have the values of
// Change.Initial and Change.FinalStateUnknown. Objects are shared with the store and must not be modified.
//
// The informer calls the funcs of a handler one at a time. Each handler has a goroutine while changes are queued, or
// always if Resync is set. A func that ends its goroutine, for example with testing.T.FailNow, removes the handler.
//
// A func must not wait for a later call of the same handler. For example, it must not wait for Done of its own
// [Registration], or for [Informer.Synced]. Under [Block] it must not wait for a change of the store, because the
// informer may be waiting for this handler.
type Handler[T any] struct {
	Added    func(object T, initial bool)
	Modified func(old, new T)
	Deleted  func(object T, finalStateUnknown bool)
}

// HandlerOptions configures one handler. The zero value is valid.
type HandlerOptions[T any] struct {
	// Filter selects the objects that the handler receives. Nil selects all objects. An object that starts to match is
	// reported as Added, and an object that stops matching as Deleted. Filter runs in the handler's goroutine when a
	// change leaves the queue, so Policy may already have merged several changes. Filter may use the informer. It must
	// always return the same result for the same object.
	Filter func(T) bool

	Policy   Policy // determines how changes are queued while the handler is busy; the default is Coalesce
	Capacity int    // maximum number of queued changes under Block; zero means 1000; an event with several changes may exceed it

	// Resync is the interval after which the handler receives every object again as Modified. Zero means never. Use it
	// to reconcile with an external system that cannot be watched. The handler receives queued changes first. Until a
	// resync is complete, no other resync begins.
	Resync time.Duration

	// OnPanic receives the value and the stack of a panic in Filter or in one of the handler's funcs. The handler then
	// continues with the next change. If Filter panicked, the object counts as matching, so that its change is not
	// lost. If OnPanic is nil, a panic ends the program.
	OnPanic func(value any, stack []byte)
}

const defaultCapacity = 1000

// Registration represents a handler or a Changes loop of an informer. All methods may be called concurrently.
type Registration[T lw.Keyed] struct {
	informer *Informer[T]
	opts     HandlerOptions[T]
	queue    *queue[T]
	synced   chan struct{} // closed when the mark that ends the initial changes leaves the queue
	handler  *Handler[T]   // nil for a Changes loop
}

func newRegistration[T lw.Keyed](i *Informer[T], opts *HandlerOptions[T]) *Registration[T] {
	r := &Registration[T]{informer: i, synced: make(chan struct{})}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Capacity <= 0 {
		r.opts.Capacity = defaultCapacity
	}
	r.queue = newQueue(r.opts.Policy, r.opts.Capacity, i.Store().key)
	r.queue.permanent = r.opts.Resync > 0
	return r
}

// Synced returns a channel that is closed when the handler has received the initial objects: the objects in the first
// list, or the objects that were in the store when the handler was added. The channel is never closed if the handler is
// removed first.
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// Remove removes the handler from the informer. It discards queued changes and prevents further calls. It does not wait
// for a call in progress. To wait for that call, use [Registration.Done]. A handler may remove itself. Repeated calls
// have no effect.
func (r *Registration[T]) Remove() {
	r.queue.close() // first, so that an informer that is just starting cannot call the handler anymore
	r.informer.unregister(r)
}

// Done returns a channel that is closed after the handler was removed and its last call has returned.
func (r *Registration[T]) Done() <-chan struct{} { return r.queue.done }

// Len returns the number of queued changes, including changes that Filter will drop.
func (r *Registration[T]) Len() int {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.queue.length
}

// enqueue queues a change for the handler. stored is the object that the store contained before the change; see
// queuedChange.
func (r *Registration[T]) enqueue(change Change[T], stored T) {
	r.queue.add(queuedChange[T]{change, stored})
}

// start lets the queue start a goroutine for the handler if the informer is running. The caller must hold the
// informer's lock.
func (r *Registration[T]) start() {
	if start := r.informer.start; start != nil && r.handler != nil {
		r.queue.setConsumer(func() { start(r) })
	} else {
		r.queue.setConsumer(nil)
	}
}

// run is the consumer goroutine of a handler. It calls the handler until its queue is empty, ctx is done or the handler
// is removed. If one of the handler's funcs ends the goroutine, for example with runtime.Goexit, run removes the
// handler.
func (r *Registration[T]) run(ctx context.Context) {
	returned, parked := false, false // returned remains false if one of the handler's funcs ends the goroutine
	defer func() {
		if !returned {
			r.Remove()
		}
		if !parked { // after parking, another consumer may already be running, and release would affect it
			r.queue.release()
		}
	}()
	parked = r.consume(ctx, r.call)
	returned = true
}

// consume passes the queued changes to yield until yield returns false, ctx is done or the handler is removed. For a
// handler without resyncs, consume also ends when the queue is empty. It then returns true, and the next change starts
// another goroutine. A handler with resyncs keeps its goroutine for the timer, and a Changes loop waits for the next
// change.
func (r *Registration[T]) consume(ctx context.Context, yield func(Change[T]) bool) (parked bool) {
	resyncs := r.opts.Resync > 0
	due := time.Now().Add(r.opts.Resync) // time of the next resync
	var resyncing []T                    // objects that the current resync has not delivered yet
	deliver := func(queued queuedChange[T]) (more bool) {
		change, ok := r.filter(queued)
		return !ok || yield(change)
	}
	for ctx.Err() == nil {
		next, found := r.queue.take(!resyncs) // parks only a handler, see queue
		switch {
		case found == queueClosed:
			return false
		case found == queueParked:
			return true
		case found == queueEmpty && len(resyncing) > 0:
			var change queuedChange[T]
			var ok bool
			if resyncing, change, ok = r.resync(resyncing); ok && !deliver(change) {
				return false
			}
		case found == queueEmpty:
			var fired <-chan time.Time // never receives a value if resyncs are disabled
			if resyncs {
				fired = time.After(time.Until(due))
			}
			select {
			case <-r.queue.ready:
			case <-ctx.Done():
			case <-fired:
			}
		case next.isMark():
			r.markSynced()
		default:
			if !deliver(next.change) {
				return false
			}
		}
		if resyncs && !time.Now().Before(due) { // checked here, too, because a busy handler never waits for the timer
			due = time.Now().Add(r.opts.Resync)
			if len(resyncing) == 0 { // one resync at a time, because resyncs would pile up for a slow handler
				resyncing = r.informer.Store().List()
			}
		}
	}
	return false
}

// markSynced records that the handler has received its initial objects.
func (r *Registration[T]) markSynced() {
	r.informer.mu.Lock()
	defer r.informer.mu.Unlock()
	close(r.synced)
	r.informer.closeIfSynced()
}

// resync returns the resync change for the first of these objects that still exists. rest contains the objects after
// it. ok is false if none of the objects exists anymore. ok is also false while changes are queued, because the handler
// must receive them first.
func (r *Registration[T]) resync(objects []T) (rest []T, change queuedChange[T], ok bool) {
	r.informer.mu.Lock() // because the store and the queue agree only under the lock
	defer r.informer.mu.Unlock()
	store := r.informer.Store()
	for len(objects) > 0 && r.Len() == 0 {
		object, ok := store.Get(store.key(objects[0]))
		objects = objects[1:]
		if ok {
			return objects, queuedChange[T]{Change[T]{Type: lw.Modified, Old: object, New: object}, object}, true
		}
	}
	return objects, change, false
}

// filter returns the change that the handler receives. It returns false if the filter drops the change.
func (r *Registration[T]) filter(change queuedChange[T]) (Change[T], bool) {
	if r.opts.Filter == nil {
		return change.Change, true
	}
	was := change.Type != lw.Added && r.matches(change.stored, false) // the handler may never have received Old
	is := change.Type != lw.Deleted && r.matches(change.New, true)
	switch {
	case is && !was:
		return Change[T]{Type: lw.Added, New: change.New, Initial: change.Initial}, true
	case was && !is:
		return Change[T]{Type: lw.Deleted, Old: change.Old, FinalStateUnknown: change.FinalStateUnknown}, true
	}
	return change.Change, is
}

// matches reports whether the filter selects an object. If the filter panics, matches returns true. It calls OnPanic
// only if report is true, because an object may be passed to the filter twice, but its panic must be reported only
// once.
func (r *Registration[T]) matches(object T, report bool) (ok bool) {
	ok = true // the result if the filter panics
	defer r.recoverPanic(report)
	return r.opts.Filter(object)
}

// call calls the handler's func for a change. It always returns true, so that consume continues even after a panic.
func (r *Registration[T]) call(c Change[T]) (more bool) {
	more = true // also the result if the func panics
	defer r.recoverPanic(true)
	switch h := r.handler; {
	case c.Type == lw.Added && h.Added != nil:
		h.Added(c.New, c.Initial)
	case c.Type == lw.Modified && h.Modified != nil:
		h.Modified(c.Old, c.New)
	case c.Type == lw.Deleted && h.Deleted != nil:
		h.Deleted(c.Old, c.FinalStateUnknown)
	}
	return more
}

// recoverPanic must be deferred. If OnPanic is set, recoverPanic recovers a panic. If report is also true, it passes
// the panic's value and stack to OnPanic.
func (r *Registration[T]) recoverPanic(report bool) {
	if r.opts.OnPanic == nil {
		return
	}
	if value := recover(); value != nil && report {
		stack := make([]byte, 64<<10) // runtime.Stack cuts off a longer stack
		r.opts.OnPanic(value, stack[:runtime.Stack(stack, false)])
	}
}
