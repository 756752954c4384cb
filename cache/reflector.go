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
	source   lw.ListerWatcher[T]
	opts     lw.Options
	store    *Store[T]
	writer   *Writer[T]
	running  atomic.Bool
	state    atomic.Pointer[lw.State]
	restored *savedState[T] // saved state that the next run replays, or nil
}

// NewReflector returns a reflector with an empty store. It sends no requests before Run or Changes. source may
// be nil if the reflector never runs, for example if it only reads a saved state. opts may be nil.
func NewReflector[T lw.Keyed](source lw.ListerWatcher[T], opts *lw.Options) *Reflector[T] {
	var identity lw.Identity[T]
	if source != nil {
		if described := source.Source(); described != nil {
			identity = described.Identity
		}
	}
	store, writer := NewStore(nil, identity)
	r := &Reflector[T]{source: source, store: store, writer: writer}
	if opts != nil {
		r.opts = *opts
	}
	store.from = selectorsOf(&r.opts)
	r.state.Store(new(lw.State))
	return r
}

// State reports whether the store is current, since when, and why not. A readiness check of a service can use it.
func (r *Reflector[T]) State() lw.State { return *r.state.Load() }

func (r *Reflector[T]) setState(next lw.State) { r.state.Store(&next) }

// Store returns the store of the reflector, for reading.
func (r *Reflector[T]) Store() *Store[T] { return r.store }

// Run follows the collection until ctx is done, and then returns context.Cause(ctx). If Options.StopOn returns true for
// an error, Run returns that error. When Run returns, all its goroutines have ended.
func (r *Reflector[T]) Run(ctx context.Context) error {
	for event := range r.Changes(ctx) {
		if event.Interruption != nil && event.Interruption.Final {
			return event.Interruption.Err
		}
	}
	return context.Cause(ctx)
}

// Changes works like Run in the caller's goroutine. It yields every event of the stream with the resulting changes to
// the store. An event with an object causes at most two changes, and Synced can cause any number. The slice is valid
// until the next iteration.
//
// Applying all changes in order always produces the objects of the store. A relist yields only the differences. A
// second run keeps the store and resumes where the first run stopped. It starts with a list if the first run stopped
// during a list or detected that resourceVersions ran backwards. A run panics while another run is active.
func (r *Reflector[T]) Changes(ctx context.Context) iter.Seq2[lw.Event[T], []Change[T]] {
	return r.follow(ctx, func(event lw.Event[T]) []Change[T] { return r.writer.fold(event) })
}

// follow yields every event with the changes that fold returns for it.
func (r *Reflector[T]) follow(ctx context.Context, fold func(lw.Event[T]) []Change[T]) iter.Seq2[lw.Event[T], []Change[T]] {
	return func(yield func(lw.Event[T], []Change[T]) bool) {
		if !r.running.CompareAndSwap(false, true) {
			panic("cache: Reflector used by two runs at the same time")
		}
		defer r.running.Store(false)
		r.setState(r.State().Started(time.Now()))
		defer func() {
			if r.State().Phase != lw.Stopped { // unless the stream has ended permanently
				r.setState(r.State().Ended(context.Cause(ctx), time.Now()))
			}
		}()
		for event := range r.events(ctx) {
			changes := fold(event)
			switch event.Type {
			case lw.ListStarted, lw.Synced, lw.Restored, lw.WatchStarted, lw.Interrupted:
				r.setState(r.State().After(event.Type, event.Interruption, time.Now()))
			}
			if !yield(event, changes) {
				return
			}
			if end := r.checkMaxObjects(); end != nil {
				report(lw.ContextTrace(ctx), end)
				r.setState(r.State().After(end.Type, end.Interruption, time.Now()))
				yield(*end, fold(*end))
				return
			}
		}
	}
}

// checkMaxObjects returns the event that ends the run if the number of objects exceeds Options.MaxObjects, and
// otherwise nil. During a list it counts only the listed objects, because the store still holds objects that the list
// may lack.
func (r *Reflector[T]) checkMaxObjects() *lw.Event[T] {
	s := r.store
	objects := max(s.state.length, len(s.decodeErrors))
	if s.listing {
		objects = s.listedCount
	}
	if r.opts.MaxObjects <= 0 || objects <= r.opts.MaxObjects {
		return nil
	}
	cause := &lw.Interruption{Err: tooManyObjects(r.opts.MaxObjects), Final: true}
	return &lw.Event[T]{Type: lw.Interrupted, ResourceVersion: s.state.version, Interruption: cause}
}

// tooManyObjects wraps lw.ErrTooManyObjects. Its value is the maximum number of objects.
type tooManyObjects int

func (limit tooManyObjects) Error() string {
	return "the collection has more than " + strconv.Itoa(int(limit)) + " objects: raise Options.MaxObjects if this is expected"
}

func (tooManyObjects) Unwrap() error { return lw.ErrTooManyObjects }

// events yields the events of the restored state, if there is one, and then the events of the stream.
func (r *Reflector[T]) events(ctx context.Context) iter.Seq[lw.Event[T]] {
	return func(yield func(lw.Event[T]) bool) {
		if r.restored != nil && !r.replay(ctx, yield) {
			if stopped := lw.ContextTrace(ctx).Stopped; stopped != nil {
				stopped() // ListAndWatch does not run, so it cannot report the end
			}
			return
		}
		held := lw.Held{
			ResourceVersion: r.store.resumable(),
			Verify:          r.store.verify,
			Lookup: func(namespace, name, uid, resourceVersion []byte) (lw.Keyed, bool) {
				return r.store.known(namespace, name, uid, resourceVersion)
			},
		}
		lw.Resume(ctx, r.source, held, &r.opts)(yield)
	}
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
