package cache

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Informer keeps a store in sync with a collection on the server. Run follows the collection in the background. Follow
// yields each event with its changes. Handlers receive the changes in both cases: all handlers share one stream and one
// store. Each handler has its own queue, so a slow handler does not delay other handlers, except under [Block]. All
// methods may be called concurrently.
type Informer[T lw.Keyed] struct {
	maxObjects int // see LimitObjects
	source     lw.ListerWatcher[T]
	opts       lw.Options
	store      *Store[T]
	running    atomic.Bool // prevents a second run at the same time, and prevents changes to restored during a run
	state      atomic.Pointer[lw.State]
	restored   *savedState[T] // saved state that the next run replays, or nil
	synced     chan struct{}

	// mu is held while an event is applied and queued, so that all queues agree with the store. A goroutine that holds mu
	// may take the lock of the store or of a queue, but not the reverse.
	mu       sync.Mutex
	handlers []*Registration[T]     // unregister changes a copy, because waitForCapacity uses the slice without the lock
	start    func(*Registration[T]) // starts a goroutine that calls a handler; nil while the informer is not running

	runs runs // lets WaitSynced wait for the end of a run
}

// NewInformer returns an informer with an empty store and no handlers. It sends no requests before Run or Follow. source
// may be nil if the informer never runs, for example if it only reads a saved state. opts may be nil.
func NewInformer[T lw.Keyed](source lw.ListerWatcher[T], opts *lw.Options) *Informer[T] {
	i := &Informer[T]{source: source, synced: make(chan struct{})}
	if opts != nil {
		i.opts = *opts
	}
	var identity lw.Identity[T]
	if source != nil {
		if described := source.Source(); described != nil {
			identity = described.Identity
		}
	}
	i.store, _ = NewStore(nil, identity)                                      // no Writer, because Store.apply writes
	i.store.from = collection{"", i.opts.LabelSelector, i.opts.FieldSelector} // Save adds the origin
	i.state.Store(new(lw.State))
	return i
}

// LimitObjects limits the number of objects, to bound the store's memory. If the collection is larger, the run ends
// with [lw.ErrTooManyObjects]. During a relist the store may hold twice as many objects. Zero means no limit. Call
// LimitObjects before Run or Follow.
func (i *Informer[T]) LimitObjects(max int) { i.maxObjects = max }

// Store returns the informer's store, for reading. It may already contain changes that slow handlers have not received
// yet.
func (i *Informer[T]) Store() *Store[T] { return i.store }

// State reports whether the store is current, since when, and why not. A readiness check of a service can use it.
func (i *Informer[T]) State() lw.State { return *i.state.Load() }

func (i *Informer[T]) setState(t lw.EventType, interruption *lw.Interruption) {
	next := i.State().After(t, interruption, time.Now())
	i.state.Store(&next)
}

// Synced returns a channel that is closed when the first list is complete and all handlers have processed it, or when the
// server has confirmed a restored state. It ignores removed handlers. See also [Registration.Synced] and [Store.Synced].
func (i *Informer[T]) Synced() <-chan struct{} { return i.synced }

// WaitSynced blocks until the channel of Synced is closed, and then returns nil. If Run returns first, WaitSynced returns
// its error. If ctx is done first, it returns context.Cause(ctx). It may be called before Run.
func (i *Informer[T]) WaitSynced(ctx context.Context) error {
	return i.runs.last(false).wait(ctx, i.synced, nil)
}

// Run follows the collection and calls the handlers until ctx is done, and then returns context.Cause(ctx). If
// Options.StopOn returns true for an error, Run returns that error. When Run returns, all its goroutines have ended and no
// handler is being called. Run may be called again. The next run resumes from the store and delivers the changes that are
// still queued.
func (i *Informer[T]) Run(ctx context.Context) error {
	return i.run(ctx, func(lw.Event[T], []Change[T]) bool { return true })
}

// Follow works like Run, but as an iterator in the caller's goroutine. It yields every event of the stream with the
// resulting changes to the store. An event with an object causes at most two changes, and Synced can cause any number.
// The slice is valid until the next iteration. To receive the changes of a stream that another goroutine runs, use
// [Informer.Changes].
//
// Applying all changes in order always produces the objects of the store. A relist yields only the differences. A
// second run keeps the store and resumes where the first run stopped. It starts with a list if the first run stopped
// during a list. It also starts with a list if the first run detected that resourceVersions had run backwards, for
// example because a backup was restored. A run panics if another run is active.
func (i *Informer[T]) Follow(ctx context.Context) iter.Seq2[lw.Event[T], []Change[T]] {
	return func(yield func(lw.Event[T], []Change[T]) bool) {
		_ = i.run(ctx, yield) // the last event contains the error
	}
}

// acquire marks the informer as running. If the informer is already running, acquire panics with the caller's method
// name. The caller must call release when it no longer uses the informer.
func (i *Informer[T]) acquire(method string) (release func()) {
	if !i.running.CompareAndSwap(false, true) {
		panic("cache: " + method + " called before the previous run ended")
	}
	return func() { i.running.Store(false) }
}

// run starts the handlers and follows the collection.
func (i *Informer[T]) run(ctx context.Context, yield func(lw.Event[T], []Change[T]) bool) error {
	defer i.acquire("Run or Follow")()
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	current := i.runs.last(true)
	i.setStart(func(r *Registration[T]) { group.Go(func() { r.run(ctx) }) })
	err := errPanicked // the result if an index func or yield panics
	defer func() {
		i.setStart(nil) // first, because no handler goroutine may start after group.Wait
		stop()
		group.Wait()
		current.end(cmp.Or(err, errStopped))
	}()
	err = i.stream(ctx, func(event lw.Event[T], changes []Change[T]) bool {
		return yield(event, changes) && i.waitForCapacity(ctx)
	})
	return err
}

// setStart sets the func that starts handler goroutines, for the current handlers and for those that are added later.
// If start is nil, no more handler goroutines start.
func (i *Informer[T]) setStart(start func(*Registration[T])) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.start = start
	for _, r := range i.handlers {
		r.start() // if start is nil, this stops the queue from starting goroutines
	}
}

// Handle adds a handler. It may be called at any time. The handler first receives the stored objects. opts may be nil.
func (i *Informer[T]) Handle(h Handler[T], opts *HandlerOptions[T]) *Registration[T] {
	r := newRegistration(i, opts)
	r.handler = &h
	i.mu.Lock()
	defer i.mu.Unlock()
	i.register(r)
	r.start()
	return r
}

// Changes yields the stored objects and then every change, until ctx is done or the loop exits. It works like a handler
// that runs in the caller's goroutine. A resync yields Modified with the same object as Old and New. Changes does not run the
// informer: another goroutine must call Run or Follow. opts may be nil.
func (i *Informer[T]) Changes(ctx context.Context, opts *HandlerOptions[T]) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		r := newRegistration(i, opts)
		i.mu.Lock()
		i.register(r)
		i.mu.Unlock()
		defer r.Remove()
		r.consume(ctx, yield)
	}
}

// register adds a registration and queues the stored objects as its first changes. The caller must hold i.mu.
func (i *Informer[T]) register(r *Registration[T]) {
	i.handlers = append(i.handlers, r)
	for _, object := range i.Store().List() {
		var none T // a filter ignores the stored object of an Added change
		r.enqueue(Change[T]{Type: lw.Added, New: object, Initial: true}, none)
	}
	if isClosed(i.Store().Synced()) { // otherwise, enqueue adds the mark, which ends the initial changes, after the first list
		r.queue.addMark()
	}
}

// unregister stops queueing changes for a handler. The informer no longer waits for the handler to become synced.
func (i *Informer[T]) unregister(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = slices.DeleteFunc(slices.Clone(i.handlers), func(other *Registration[T]) bool { return other == r })
	i.closeIfSynced()
}

// apply applies an event to the store and adds the changes to the queue of each handler. If an index func panics, apply
// still queues the changes that were made before the panic, so that the queues agree with the store.
func (i *Informer[T]) apply(event lw.Event[T]) []Change[T] {
	i.mu.Lock()
	defer i.mu.Unlock()
	defer i.enqueue(event.Type, isClosed(i.Store().Synced())) // evaluates the arguments now, before the write
	return i.Store().apply(event)
}

// enqueue adds the changes from the store's last write to the queue of each handler. cause is the type of the event
// that was written, and wasSynced reports whether the store was synced before the event. The caller must hold i.mu.
func (i *Informer[T]) enqueue(cause lw.EventType, wasSynced bool) {
	s := i.Store()
	changes := s.endWrite()
	synced := !wasSynced && isClosed(s.Synced())
	for _, r := range i.handlers {
		for _, change := range changes {
			stored := change.Old
			if cause == lw.Deleted { // in this case, Change.Old is the object in the event, which the store never contained
				stored = s.removed
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

// closeIfSynced closes the Synced channel if all handlers have processed the first list. The caller must hold i.mu.
func (i *Informer[T]) closeIfSynced() {
	unsynced := func(r *Registration[T]) bool { return !isClosed(r.synced) }
	if isClosed(i.Store().Synced()) && !isClosed(i.synced) && !slices.ContainsFunc(i.handlers, unsynced) {
		close(i.synced)
	}
}

// waitForCapacity blocks while any handler with the policy [Block] has a full queue. Removing a handler closes its
// queue, which then no longer counts as full. waitForCapacity returns false if ctx is done first.
func (i *Informer[T]) waitForCapacity(ctx context.Context) bool {
	i.mu.Lock()
	handlers := i.handlers
	i.mu.Unlock()
	for _, r := range handlers {
		for r.queue.full() {
			select {
			case <-r.queue.freed:
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

// runs holds the current or last run of an Informer or a Group, so that WaitSynced can wait for it. The zero value is
// ready to use.
type runs struct {
	mu      sync.Mutex
	current *run // nil before the first use
}

// last returns the current or last run. If there was no run yet, last creates the first one, because WaitSynced may be
// called before Run. If begin is true, last creates a new run if the last one has ended.
func (r *runs) last(begin bool) *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || begin && isClosed(r.current.done) {
		r.current = &run{done: make(chan struct{})}
	}
	return r.current
}

// run represents one run of an Informer or a Group.
type run struct {
	done chan struct{} // closed when the run ends
	err  error         // result of the run; set before done is closed
}

// WaitSynced returns one of these errors if a run ends without an error of its own.
var (
	errPanicked = errors.New("cache: the run panicked")
	errStopped  = errors.New("cache: the loop over Follow ended")
)

func (r *run) end(err error) {
	r.err = err
	close(r.done)
}

// wait blocks until synced or gone is closed, and then returns nil. It returns an error if the run ends or ctx is done
// first. A group closes gone when it removes an informer, because a removed informer need not become synced. gone may
// be nil.
func (r *run) wait(ctx context.Context, synced, gone <-chan struct{}) error {
	if isClosed(synced) {
		return nil // even if ctx is done or the run has ended
	}
	var err error
	select {
	case <-synced:
	case <-gone:
	case <-r.done:
		err = r.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if isClosed(synced) { // select chooses at random if several channels are closed
		return nil
	}
	return err
}
