package cache

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/internal/recall"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Reflector keeps a store equal to a collection on the server.
type Reflector[T lw.Keyed] struct {
	source   lw.ListerWatcher[T]
	opts     lw.Options
	store    *Store[T]
	writer   *Writer[T]
	running  atomic.Bool
	restored *savedState[T] // what the next run begins with; nil for nothing
}

// NewReflector returns a reflector with an empty store. Nothing happens before Run or Changes. opts may be nil; its
// ResumeFrom is the reflector's own affair.
func NewReflector[T lw.Keyed](source lw.ListerWatcher[T], opts *lw.Options) *Reflector[T] {
	store, writer := NewStore[T](nil)
	r := &Reflector[T]{source: source, store: store, writer: writer}
	if opts != nil {
		r.opts = *opts
	}
	return r
}

// Store returns the reflector's store, for reading.
func (r *Reflector[T]) Store() *Store[T] { return r.store }

// Run follows the collection until ctx ends, and then returns context.Cause(ctx). If Options.StopOn returns true for an
// error, Run returns that error. When Run has returned, nothing is left running.
func (r *Reflector[T]) Run(ctx context.Context) error {
	for event := range r.Changes(ctx) {
		if event.Interruption != nil && event.Interruption.Final {
			return event.Interruption.Err
		}
	}
	return context.Cause(ctx)
}

// Changes does what Run does, and yields every event of the stream with the changes that it made in the store: none for
// most events that are not about an object, and any number for Synced. The slice is valid until the next iteration. The
// work is done in the caller's goroutine.
//
// Folding the changes always gives the store's content. After a new list only what changed meanwhile is told. A second run
// continues with the same store: where the first was, or with a list if that ended within one or found that versions had
// run backwards. Two at once panic.
func (r *Reflector[T]) Changes(ctx context.Context) iter.Seq2[lw.Event[T], []Change[T]] {
	return r.follow(ctx, func(event lw.Event[T]) []Change[T] { return r.writer.Fold(event) })
}

// follow yields every event with what fold made of it.
func (r *Reflector[T]) follow(ctx context.Context, fold func(lw.Event[T]) []Change[T]) iter.Seq2[lw.Event[T], []Change[T]] {
	return func(yield func(lw.Event[T], []Change[T]) bool) {
		if !r.running.CompareAndSwap(false, true) {
			panic("cache: a Reflector is run twice at the same time")
		}
		defer r.running.Store(false)
		for event := range r.events(ctx) {
			if !yield(event, fold(event)) {
				return
			}
			if end := r.checkMaxObjects(); end != nil {
				if interrupted := lw.TraceOf(ctx).Interrupted; interrupted != nil {
					interrupted(end.Interruption)
				}
				yield(*end, fold(*end))
				return
			}
		}
	}
}

// checkMaxObjects returns the event that ends the run when there are more objects than Options.MaxObjects, or nil. While a list
// arrives, the limit is for the list alone, because the store still holds the objects that the list lacks.
func (r *Reflector[T]) checkMaxObjects() *lw.Event[T] {
	s := r.store
	objects := max(s.state.length, len(s.decodeErrors))
	if s.listing {
		objects = s.listedCount
	}
	if r.opts.MaxObjects <= 0 || objects <= r.opts.MaxObjects {
		return nil
	}
	cause := &lw.Interruption{Err: &lw.TooManyObjectsError{Limit: r.opts.MaxObjects}, Final: true}
	return &lw.Event[T]{Type: lw.Interrupted, ResourceVersion: s.state.version, Interruption: cause}
}

// events are those of a restored state, if there is one, and then the stream that goes on from what the store holds.
func (r *Reflector[T]) events(ctx context.Context) iter.Seq[lw.Event[T]] {
	return func(yield func(lw.Event[T]) bool) {
		if r.restored != nil && !r.replay(ctx, yield) {
			return
		}
		opts := r.opts
		opts.ResumeFrom = r.store.resumable()
		lw.ListAndWatch(recall.With(ctx, r.source, r.store.known), r.source, &opts)(yield)
	}
}
