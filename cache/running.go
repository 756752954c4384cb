package cache

import "context"

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
