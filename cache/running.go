package cache

import (
	"context"
	"runtime"
)

// serve calls a handler until nothing waits for it, ctx ends or the handler is removed. One whose func ends its goroutine is
// removed: nobody could call it.
func (i *Informer[T]) serve(ctx context.Context, r *Registration[T]) {
	returned := false
	defer func() {
		if !returned {
			r.Remove()
			r.finish()
		}
	}()
	parked := r.run(ctx)
	if returned = true; !parked {
		i.rest(r)
	}
}

// awake lets handlers be called from now on.
func (i *Informer[T]) awake(start func(*Registration[T])) {
	if !i.running.CompareAndSwap(false, true) {
		panic("cache: an Informer is run again before its last Run has returned")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.start = start
	for _, r := range i.resting {
		start(r)
	}
	i.resting = nil
}

func (i *Informer[T]) asleep() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.start = nil
	for _, r := range i.handlers {
		if r.handler != nil && !r.queue.leave() { // who takes will rest it else
			i.resting = append(i.resting, r)
		}
	}
}

// rest keeps a handler for the next run, unless it was removed.
func (i *Informer[T]) rest(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.dropped {
		r.finish()
	}
	if !isClosed(r.done) {
		i.resting = append(i.resting, r)
	}
}

// waitForRoom waits until no handler holds up the stream. It returns false when ctx ends first.
func (i *Informer[T]) waitForRoom(ctx context.Context) bool {
	for _, r := range i.told {
		for r.queue.full() {
			select {
			case <-r.queue.room:
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

// guarded calls f. A panic in f goes to OnPanic, if it is set. reported is false if OnPanic knows of the panic already.
func (r *Registration[T]) guarded(reported bool, f func()) {
	if r.opts.OnPanic != nil {
		defer func() {
			if value := recover(); value != nil && reported {
				stack := make([]byte, 64<<10)
				r.opts.OnPanic(value, stack[:runtime.Stack(stack, false)])
			}
		}()
	}
	f()
}

// filtered applies the filter to a change. It returns false if the handler does not need the change.
func (r *Registration[T]) filtered(change Change[T]) (Change[T], bool) {
	if r.opts.Filter == nil {
		return change, true
	}
	was := change.Type != Added && r.matches(change.held, false)
	is := change.Type != Deleted && r.matches(change.New, true)
	switch {
	case is && !was:
		change = Change[T]{Type: Added, New: change.New, Initial: change.Initial}
	case was && !is:
		change = Change[T]{Type: Deleted, Old: change.Old, Stale: change.Stale}
	}
	return change, was || is
}

// matches reports whether the filter selects an object. first is false if the filter was called for it before.
func (r *Registration[T]) matches(object T, first bool) (ok bool) {
	ok = true // if the filter panics
	r.guarded(first, func() { ok = r.opts.Filter(object) })
	return ok
}
