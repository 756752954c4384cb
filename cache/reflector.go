package cache

import (
	"context"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Reflector keeps a store in sync with a collection on the server.
type Reflector[T lw.Keyed] struct {
	maxObjects int // see LimitObjects
	source     lw.ListerWatcher[T]
	opts       lw.Options
	store      *Store[T]
	running    atomic.Bool
	state      atomic.Pointer[lw.State]
	restored   *savedState[T] // saved state that the next run replays, or nil
}

// NewReflector returns a reflector with an empty store. It sends no requests before Run or Follow. source may be nil if
// the reflector never runs, for example if it only reads a saved state. opts may be nil.
func NewReflector[T lw.Keyed](source lw.ListerWatcher[T], opts *lw.Options) *Reflector[T] {
	r := &Reflector[T]{source: source}
	if opts != nil {
		r.opts = *opts
	}
	var identity lw.Identity[T]
	if source != nil {
		if described := source.Source(); described != nil {
			identity = described.Identity
		}
	}
	r.store, _ = NewStore(nil, identity)
	r.store.from = collection{"", r.opts.LabelSelector, r.opts.FieldSelector}
	r.state.Store(new(lw.State))
	return r
}

// LimitObjects limits the number of objects, to bound the memory of the store. If the collection is larger, the run ends
// with [lw.ErrTooManyObjects]. During a relist the store may hold twice as many objects. Zero means no limit. Call
// LimitObjects before Run or Follow.
func (r *Reflector[T]) LimitObjects(max int) { r.maxObjects = max }

// State reports whether the store is current, since when, and why not. A readiness check of a service can use it.
func (r *Reflector[T]) State() lw.State { return *r.state.Load() }

func (r *Reflector[T]) setState(t lw.EventType, interruption *lw.Interruption) {
	next := r.State().After(t, interruption, time.Now())
	r.state.Store(&next)
}

// Store returns the store of the reflector, for reading.
func (r *Reflector[T]) Store() *Store[T] { return r.store }

// Run follows the collection until ctx is done, and then returns context.Cause(ctx). If Options.StopOn returns true for
// an error, Run returns that error. When Run returns, all its goroutines have ended.
func (r *Reflector[T]) Run(ctx context.Context) error {
	defer r.acquire("Reflector.Run")()
	return r.run(ctx, r.store.apply, func(lw.Event[T], []Change[T]) bool { return true })
}

// Follow is Run as an iterator in the caller's goroutine. It yields every event of the stream with the resulting changes
// to the store. An event with an object causes at most two changes, and Synced can cause any number. The slice is valid
// until the next iteration. To receive the changes of a stream that another goroutine runs, use [Informer.Changes].
//
// Applying all changes in order always produces the objects of the store. A relist yields only the differences. A
// second run keeps the store and resumes where the first run stopped. It starts with a list if the first run stopped
// during a list or detected that resourceVersions ran backwards. A run panics while another run is active.
func (r *Reflector[T]) Follow(ctx context.Context) iter.Seq2[lw.Event[T], []Change[T]] {
	return func(yield func(lw.Event[T], []Change[T]) bool) {
		defer r.acquire("Reflector.Follow")()
		_ = r.run(ctx, r.store.apply, yield) // the last event contains the error
	}
}

// acquire panics if the reflector is running. The caller must call release when it no longer uses the reflector.
func (r *Reflector[T]) acquire(method string) (release func()) {
	if !r.running.CompareAndSwap(false, true) {
		panic("cache: " + method + " called before Run returned")
	}
	return func() { r.running.Store(false) }
}

// run follows the collection. For each event, it applies the event to the store, updates the state and calls yield. It
// ends when yield returns false, ctx is done, or an error is permanent. It returns that error or context.Cause(ctx).
func (r *Reflector[T]) run(ctx context.Context, apply func(lw.Event[T]) []Change[T], yield func(lw.Event[T], []Change[T]) bool) (err error) {
	trace := lw.ContextTrace(ctx)
	r.setState(lw.Interrupted, &lw.Interruption{Err: r.State().Cause})
	defer func() {
		if err == nil {
			err = context.Cause(ctx)
			r.setState(lw.Interrupted, &lw.Interruption{Err: err, Final: true})
		}
	}()
	var step func(event lw.Event[T]) bool
	step = func(event lw.Event[T]) bool {
		changes := apply(event)
		switch event.Type {
		case lw.ListStarted, lw.Synced, lw.Restored, lw.WatchStarted, lw.Interrupted:
			r.setState(event.Type, event.Interruption)
		}
		final := event.Interruption != nil && event.Interruption.Final
		if final {
			err = event.Interruption.Err
		}
		if !yield(event, changes) || final {
			return false
		}
		if r.maxObjects > 0 && r.store.size() > r.maxObjects {
			cause := &lw.Interruption{Err: tooManyObjects(r.maxObjects), Final: true}
			end := lw.Event[T]{Type: lw.Interrupted, ResourceVersion: r.store.state.version, Interruption: cause}
			report(trace, &end)
			return step(end)
		}
		return true
	}
	if r.restored != nil && !r.replay(ctx, trace, step) {
		if trace.Stopped != nil {
			trace.Stopped() // ListAndWatch does not run, so it cannot report the end
		}
		return err
	}
	held := lw.Held{
		ResourceVersion: r.store.resumable(),
		Verify:          r.store.verify,
		Lookup: func(namespace, name, uid, resourceVersion []byte) (lw.Keyed, bool) {
			return r.store.known(namespace, name, uid, resourceVersion)
		},
	}
	lw.Resume(ctx, r.source, held, &r.opts)(step)
	return err
}

// size returns the number of objects that LimitObjects limits. During a list it counts only the listed objects,
// because the store still holds objects that the list may lack.
func (s *Store[T]) size() int {
	if s.listing {
		return s.listedCount
	}
	return max(s.state.length, len(s.decodeErrors))
}

func tooManyObjects(limit int) error {
	return &wrapped{"the collection has more than " + strconv.Itoa(limit) + " objects: raise the limit in LimitObjects if this is expected", lw.ErrTooManyObjects}
}

// replay passes the restored state to step as a list that ends with [lw.Restored]. It also reports these events to the
// trace, so that metrics show a stale state while the server does not answer. It returns false if the run must end.
func (r *Reflector[T]) replay(ctx context.Context, trace *lw.Trace, step func(lw.Event[T]) bool) bool {
	send := func(event lw.Event[T]) bool {
		report(trace, &event)
		return step(event) && ctx.Err() == nil
	}
	if ctx.Err() != nil || !send(lw.Event[T]{Type: lw.ListStarted}) {
		return false
	}
	for _, object := range r.restored.objects {
		if !send(lw.Event[T]{Type: lw.Added, Object: object}) {
			return false
		}
	}
	r.store.partial = r.restored.partial
	proceed := send(lw.Event[T]{Type: lw.Restored, ResourceVersion: r.restored.version})
	if r.restored.version == "" { // the saved store had to relist, see Save
		r.store.mu.Lock()
		r.store.setDistrusted()
		r.store.mu.Unlock()
	}
	r.restored = nil
	return proceed
}

// report passes an event that the stream did not yield to a trace. The stream itself reports its own events.
func report[T lw.Keyed](trace *lw.Trace, event *lw.Event[T]) {
	if trace.Event == nil {
		return
	}
	untyped := lw.Event[lw.Keyed]{Type: event.Type, ResourceVersion: event.ResourceVersion, Interruption: event.Interruption}
	if event.Type == lw.Added {
		untyped.Object = event.Object
	}
	trace.Event(untyped)
}
