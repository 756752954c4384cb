package cache

import (
	"context"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// stream follows the collection. For each event, it applies the event to the store, updates the state and calls yield. It
// ends when yield returns false, ctx is done, or an error is permanent. It returns that error or context.Cause(ctx).
func (i *Informer[T]) stream(ctx context.Context, yield func(lw.Event[T], []Change[T]) bool) (err error) {
	trace := lw.ContextTrace(ctx)
	// The previous run may have left the phase Stopped. Until its first event, this run has the phase of an interrupted
	// stream with the same cause.
	i.setState(lw.Interrupted, &lw.Interruption{Err: i.State().Cause})
	defer func() {
		if err == nil {
			err = context.Cause(ctx)
			i.setState(lw.Interrupted, &lw.Interruption{Err: err, Final: true})
		}
	}()
	var step func(event lw.Event[T]) bool
	step = func(event lw.Event[T]) bool {
		changes := i.apply(event)
		switch event.Type {
		case lw.ListStarted, lw.Synced, lw.Restored, lw.WatchStarted, lw.Interrupted:
			i.setState(event.Type, event.Interruption)
		}
		final := event.Interruption != nil && event.Interruption.Final
		if final {
			err = event.Interruption.Err
		}
		if !yield(event, changes) || final {
			return false
		}
		// ListAndWatch does not know the limit, so the event that ends the run is created here.
		if i.maxObjects > 0 && i.store.size() > i.maxObjects {
			cause := &lw.Interruption{Err: tooManyObjects(i.maxObjects), Final: true}
			end := lw.Event[T]{Type: lw.Interrupted, ResourceVersion: i.store.state.version, Interruption: cause}
			report(trace, &end)
			return step(end)
		}
		return true
	}
	if i.restored != nil && !i.replay(ctx, trace, step) {
		if trace.Stopped != nil {
			trace.Stopped() // ListAndWatch does not run, so it cannot report the end
		}
		return err
	}
	held := lw.Held{
		ResourceVersion: i.store.resumable(),
		Verify:          i.store.verify,
		Lookup: func(namespace, name, uid, resourceVersion []byte) (lw.Keyed, bool) {
			return i.store.known(namespace, name, uid, resourceVersion)
		},
	}
	lw.Resume(ctx, i.source, held, &i.opts)(step)
	return err
}

// size returns the number of objects to compare with the limit of LimitObjects. During a list, only the listed objects
// count, because the store still contains objects that may not be in the list. Otherwise, size is at least the number of
// objects that could not be decoded, because their errors take memory, too.
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
func (i *Informer[T]) replay(ctx context.Context, trace *lw.Trace, step func(lw.Event[T]) bool) bool {
	send := func(event lw.Event[T]) bool {
		report(trace, &event)
		return step(event) && ctx.Err() == nil
	}
	if ctx.Err() != nil || !send(lw.Event[T]{Type: lw.ListStarted}) {
		return false
	}
	for _, object := range i.restored.objects {
		if !send(lw.Event[T]{Type: lw.Added, Object: object}) {
			return false
		}
	}
	i.store.mu.Lock()
	i.store.partial = i.restored.partial
	i.store.mu.Unlock()
	proceed := send(lw.Event[T]{Type: lw.Restored, ResourceVersion: i.restored.version})
	// The saved store had to relist, see Save. The event Restored makes the store trusted, so distrust must follow it.
	if i.restored.version == "" {
		i.store.mu.Lock()
		i.store.distrust()
		i.store.mu.Unlock()
	}
	i.restored = nil
	return proceed
}

// report passes a replayed event to a trace. ListAndWatch reports only the events that it yields itself.
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
