package cache

import "context"

// runHandler calls a handler until its queue is empty, ctx is done or the handler is removed. If a func of the handler
// ends the goroutine, for example with runtime.Goexit, runHandler removes the handler.
func (i *Informer[T]) runHandler(ctx context.Context, r *Registration[T]) {
	returned := false
	defer func() {
		if !returned {
			r.Remove()
			r.closeDone()
		}
	}()
	parked := r.run(ctx)
	returned = true
	if !parked {
		i.suspend(r)
	}
}

// startHandlers starts the suspended handlers. Handlers that are added later start at once.
func (i *Informer[T]) startHandlers(start func(*Registration[T])) {
	if !i.running.CompareAndSwap(false, true) {
		panic("cache: Informer.Run called before the previous Run returned")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.start = start
	for _, r := range i.suspended {
		start(r)
	}
	i.suspended = nil
}

// stopHandlers prevents further handler goroutines from starting, and suspends the idle handlers.
func (i *Informer[T]) stopHandlers() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.start = nil
	for _, r := range i.handlers {
		if r.handler != nil && !r.queue.clearConsumer() { // a running consumer suspends its handler when it ends
			i.suspended = append(i.suspended, r)
		}
	}
}

// suspend keeps a handler for the next run, unless the handler was removed.
func (i *Informer[T]) suspend(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.dropped {
		r.closeDone()
	}
	if !isClosed(r.done) {
		i.suspended = append(i.suspended, r)
	}
}

// waitForCapacity blocks while the queue of a handler with policy [Block] is full. It returns false if ctx is done
// first.
func (i *Informer[T]) waitForCapacity(ctx context.Context) bool {
	defer func() { i.notified = nil }() // without this, removed handlers would stay in memory until the next event
	for _, r := range i.notified {
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
