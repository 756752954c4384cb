package cache

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Informer is a [Reflector] with many handlers. All handlers share one stream and one store. Each handler has its own
// queue, so a slow handler does not delay other handlers, except under [Block]. All methods may be called concurrently.
type Informer[T lw.Keyed] struct {
	reflector *Reflector[T]
	running   atomic.Bool

	mu        lock.Mutex // held while an event is applied and queued, so that all queues agree with the store
	handlers  []*Registration[T]
	unsynced  []*Registration[T] // handlers that have not processed the first list
	synced    chan struct{}
	start     func(*Registration[T]) // starts a handler; nil while the informer is not running
	suspended []*Registration[T]     // handlers that the next run starts
	notified  []*Registration[T]     // handlers that received the last event; used only by Run
}

// NewInformer returns an informer with an empty store and no handlers. It sends no requests before Run. opts may be nil.
func NewInformer[T lw.Keyed](source lw.ListerWatcher[T], opts *lw.Options) *Informer[T] {
	return &Informer[T]{reflector: NewReflector(source, opts), synced: make(chan struct{})}
}

// Store returns the informer's store, which callers must not modify. It may be ahead of slow handlers.
func (i *Informer[T]) Store() *Store[T] { return i.reflector.Store() }

// State reports whether the store is current, since when, and why not. A readiness check of a service can use it.
func (i *Informer[T]) State() lw.State { return i.reflector.State() }

// Synced returns a channel that is closed when the first list is complete and all handlers have processed it, or when the
// server has confirmed a restored state. It ignores removed handlers. See also [Registration.Synced] and [Store.Synced].
func (i *Informer[T]) Synced() <-chan struct{} { return i.synced }

// Run follows the collection and calls the handlers until ctx is done, and then returns context.Cause(ctx). If
// Options.StopOn returns true for an error, Run returns that error. When Run returns, no handler is being called. Run
// may be called again. The next Run resumes from the store and delivers the changes that are still queued.
func (i *Informer[T]) Run(ctx context.Context) error {
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	i.startHandlers(func(r *Registration[T]) {
		r.queue.setConsumer(func() { group.Go(func() { i.runHandler(ctx, r) }) })
	})
	defer func() {
		i.stopHandlers()
		stop()
		group.Wait()
		i.running.Store(false)
	}()
	for event := range i.reflector.follow(ctx, i.apply) {
		if event.Interruption != nil && event.Interruption.Final {
			return event.Interruption.Err
		}
		if !i.waitForCapacity(ctx) {
			break
		}
	}
	return context.Cause(ctx)
}

// Handle adds a handler. It may be called at any time. The handler first receives the stored objects. opts may be nil.
func (i *Informer[T]) Handle(h Handler[T], opts *HandlerOptions[T]) *Registration[T] {
	r := newRegistration(i, opts)
	r.handler = &h
	i.mu.Lock()
	defer i.mu.Unlock()
	i.register(r)
	if i.start != nil {
		i.start(r)
	} else {
		i.suspended = append(i.suspended, r)
	}
	return r
}

// Changes yields the stored objects and then every change, until ctx is done or the loop exits. It works like a handler
// that runs in the caller's goroutine. A resync yields Modified with Resync set. Another goroutine must run the
// informer. opts may be nil.
func (i *Informer[T]) Changes(ctx context.Context, opts *HandlerOptions[T]) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		r := newRegistration(i, opts)
		i.mu.Lock()
		i.register(r)
		i.mu.Unlock()
		defer r.Remove()
		r.changes(ctx, nil)(yield)
	}
}

// register adds a registration and queues the stored objects as its first changes.
func (i *Informer[T]) register(r *Registration[T]) {
	i.handlers = append(i.handlers[:len(i.handlers):len(i.handlers)], r)
	for _, object := range i.Store().List() {
		var none T
		r.enqueue(Change[T]{Type: Added, New: object, Initial: true}, none)
	}
	if isClosed(i.Store().Synced()) {
		r.queue.addMark()
	}
	if !isClosed(i.synced) {
		i.unsynced = append(i.unsynced, r)
	}
}

// apply applies an event to the store and adds the changes to the queues of all handlers. If an index func panics, it
// adds the changes that were made before, so that the queues agree with the store.
func (i *Informer[T]) apply(event lw.Event[T]) []Change[T] {
	i.mu.Lock()
	defer i.mu.Unlock()
	defer i.enqueue(event.Type, isClosed(i.Store().Synced()))
	return i.reflector.writer.fold(event)
}

// enqueue adds the changes of the store's last write to the queues of all handlers. cause is the type of the event, and
// wasSynced reports whether the store was synced before the event.
func (i *Informer[T]) enqueue(cause lw.EventType, wasSynced bool) {
	changes := i.Store().endWrite()
	synced := !wasSynced && isClosed(i.Store().Synced())
	i.notified = i.handlers
	for _, r := range i.handlers {
		for _, change := range changes {
			stored := change.Old
			if cause == lw.Deleted {
				stored = i.Store().removed
			}
			r.enqueue(change, stored)
		}
		if synced {
			r.queue.addMark()
		}
	}
	if synced {
		i.closeIfSynced()
	}
}

// markSynced records that a handler has processed the first list or was removed. It closes the Synced channel after the
// last such handler.
func (i *Informer[T]) markSynced(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.unsynced = slices.DeleteFunc(i.unsynced, func(other *Registration[T]) bool { return other == r })
	i.closeIfSynced()
}

func (i *Informer[T]) closeIfSynced() {
	if len(i.unsynced) == 0 && isClosed(i.Store().Synced()) && !isClosed(i.synced) {
		close(i.synced)
	}
}

// unregister stops queueing changes for a handler. If drop is true, the handler is not called again.
func (i *Informer[T]) unregister(r *Registration[T], drop bool) {
	i.markSynced(r)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = slices.DeleteFunc(slices.Clone(i.handlers), func(other *Registration[T]) bool { return other == r })
	if !drop {
		return
	}
	r.dropped = true
	before := len(i.suspended)
	i.suspended = slices.DeleteFunc(i.suspended, func(other *Registration[T]) bool { return other == r })
	if len(i.suspended) < before {
		r.closeDone()
	}
}

// resync queues the objects of a handler's current resync as Modified changes, until the queue has no more capacity for
// them. It skips objects that were deleted since the resync began.
func (i *Informer[T]) resync(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(r.resyncing) > 0 && r.queue.hasCapacityForResync() {
		object, ok := i.Store().Get(r.key(r.resyncing[0]))
		if ok {
			r.enqueue(Change[T]{Type: Modified, Old: object, New: object, Resync: true}, object)
		}
		r.resyncing = r.resyncing[1:]
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
