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

// Informer is a [Reflector] that is shared by many handlers. One stream and one store serve all of them; each has a bounded
// queue of its own, so that a slow one holds up nobody else. All methods may run concurrently.
type Informer[T lw.Keyed] struct {
	reflector *Reflector[T]
	running   atomic.Bool

	mu        lock.Mutex // held while an event is folded and queued, so that all queues agree with the store
	handlers  []*Registration[T]
	unsynced  []*Registration[T] // handlers that Synced waits for
	synced    chan struct{}
	start     func(*Registration[T]) // starts a handler; nil while the informer does not run
	suspended []*Registration[T]     // handlers that wait for the next run
	notified  []*Registration[T]     // the handlers of the last event; only the goroutine of Run uses it
}

// NewInformer returns an informer with an empty store and no handlers. Nothing happens before Run. opts may be nil.
func NewInformer[T lw.Keyed](source lw.ListerWatcher[T], opts *lw.Options) *Informer[T] {
	return &Informer[T]{reflector: NewReflector(source, opts), synced: make(chan struct{})}
}

// Store returns the informer's store, for reading. It is ahead of what slow handlers were told.
func (i *Informer[T]) Store() *Store[T] { return i.reflector.Store() }

// Synced returns a channel that is closed when the first list is complete and all handlers that were there then were told
// of it, or were removed. See also [Registration.Synced] and [Store.Synced].
func (i *Informer[T]) Synced() <-chan struct{} { return i.synced }

// Run follows the collection and calls the handlers until ctx ends, and then returns context.Cause(ctx). If Options.StopOn
// returns true for an error, Run returns that error. When Run has returned, no handler is being called. It may be called
// again. The next Run continues from the store and delivers the changes that still wait.
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

// Handle adds a handler, at any time. It is told what the store holds first. opts may be nil.
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

// Changes is a handler in the form of a loop, in the caller's goroutine: it yields what the store holds first, and then
// every change, until ctx ends or the loop is left. Resyncs come as Modified with Resync set. The informer must be run by
// another goroutine. opts may be nil.
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

// apply applies an event to the store and queues the changes for all handlers.
func (i *Informer[T]) apply(event lw.Event[T]) []Change[T] {
	i.mu.Lock()
	defer i.mu.Unlock()
	initial := !isClosed(i.Store().Synced())
	changes := i.reflector.writer.Fold(event)
	i.notified = i.handlers
	for _, r := range i.handlers {
		for _, change := range changes {
			stored := change.Old
			if event.Type == lw.Deleted {
				stored = i.Store().removed
			}
			r.enqueue(change, stored)
		}
		if initial && event.Type == lw.Synced {
			r.queue.addMark()
		}
	}
	if initial && event.Type == lw.Synced {
		i.closeIfSynced()
	}
	return changes
}

// markSynced records that a registration has processed the first list or was removed.
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

// unregister queues no more changes for a registration. If drop is set, the handler is not called again.
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

// resync queues every object for one registration.
func (i *Informer[T]) resync(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.handlers, r) {
		return
	}
	for _, object := range i.Store().List() {
		r.enqueue(Change[T]{Type: Modified, Old: object, New: object, Resync: true}, object)
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
