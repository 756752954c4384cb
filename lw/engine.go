package lw

import (
	"context"
	"iter"
	"time"
)

// engine makes the requests that the machine decides on, and gives their events to the caller.
type engine[T Keyed] struct {
	ctx     context.Context
	source  ListerWatcher[T]
	opts    *Options
	machine *machine
	trace   *Trace
	yield   func(Event[T]) bool
	replay  func() time.Time // see clock.Clock; nil for a stream that is not replayed
	epoch   time.Time        // of the machine's moments
	reset   bool             // Reset was sent since the last interruption
	gone    bool             // the caller wants no more

	now      moment // of the latest signal
	reporter reporter
}

// turn makes one request and handles its end. It returns false when the sequence is over.
func (e *engine[T]) request() bool {
	var result *Interruption
	e.signal(asking)
	switch e.machine.state.(type) {
	case *listing, checking:
		result = e.list()
	case *streaming, *watching:
		result = e.watch()
	case stopped:
		return false
	}
	if e.gone || e.ctx.Err() != nil {
		return false
	}
	if result == nil {
		return true
	}
	e.reset = false
	if !e.machine.routine {
		e.reporter.report(result, e.now)
	}
	e.send(Event[T]{Type: Interrupted, ResourceVersion: e.machine.version, Interruption: result})
	return !e.gone && e.wait(result)
}

// send gives an event to the caller, and notes whether the caller wants more.
func (e *engine[T]) send(event Event[T]) bool {
	e.trace.event(event.Type, event.ResourceVersion, event.Interruption, event.Err)
	if e.gone = e.gone || e.ctx.Err() != nil || !e.yield(event); e.gone {
		return false
	}
	return true
}

// list reads one page, or checks the collection's resourceVersion, in which case it ignores the objects.
func (e *engine[T]) list() *Interruption {
	_, check := e.machine.state.(checking)
	opts := e.machine.listOptions()
	opts.LabelSelector, opts.FieldSelector, opts.ShardSelector = e.opts.LabelSelector, e.opts.FieldSelector, e.opts.ShardSelector
	ctx, dog := guard(e.ctx, e.idle(), e.opts.Wake)
	defer dog.stop()
	var meta ListMeta
	page := input{signal: pageRead}
	for object, err := range e.source.List(ctx, opts, &meta) {
		event := Event[T]{Type: Added, Object: object}
		if err != nil && !event.decodeFailed(err) {
			return e.fail(causeOf(ctx, err), page.objects)
		}
		dog.pause()
		if page.objects++; page.objects == 1 {
			page.start = keyOf(&event)
		}
		if !check && !e.item(&event) {
			return nil
		}
		dog.resume(e.idle())
	}
	if err := causeOf(ctx, nil); err != nil {
		return e.fail(err, page.objects)
	}
	e.trace.page(meta)
	page.meta = meta
	output, result := e.step(&page)
	if output == complete {
		e.complete()
	}
	return result
}

// keyOf returns the key of an event's object.
func keyOf[T Keyed](event *Event[T]) Key {
	if event.Err != nil {
		return event.Err.Key
	}
	return KeyOf(event.Object)
}

// item gives an object of a list to the caller.
func (e *engine[T]) item(event *Event[T]) bool { return e.begin() && e.send(*event) }

// begin sends Reset before the first object of a list, and not before an attempt that fails earlier.
func (e *engine[T]) begin() bool {
	if e.reset {
		return true
	}
	e.reset = true
	return e.send(Event[T]{Type: ListStarted})
}

// complete ends a list, which may be empty.
func (e *engine[T]) complete() bool {
	return e.begin() && e.send(Event[T]{Type: Synced, ResourceVersion: e.machine.version})
}

// watch follows one watch, or one streaming list and the watch behind it. It runs for hours, so its frame is kept small:
// the functions that it calls and that have large frames are not inlined.
func (e *engine[T]) watch() *Interruption {
	ctx, dog := guard(e.ctx, e.idle(), e.opts.Wake)
	defer dog.stop()
	for event, err := range e.events(ctx) {
		if err != nil && !event.decodeFailed(err) {
			return e.fail(causeOf(ctx, err), 0)
		}
		dog.pause()
		if result, proceed := e.handle(&event); result != nil || !proceed {
			return result
		}
		dog.resume(e.idle())
	}
	if err := causeOf(ctx, nil); err != nil {
		return e.fail(err, 0)
	}
	return e.signal(endedClean)
}

//go:noinline
func (e *engine[T]) events(ctx context.Context) iter.Seq2[Event[T], error] {
	opts := e.machine.watchOptions()
	opts.LabelSelector, opts.FieldSelector, opts.ShardSelector = e.opts.LabelSelector, e.opts.FieldSelector, e.opts.ShardSelector
	return e.source.Watch(ctx, opts)
}

// causeOf returns the cause for which a request's context ended, if it did, and err otherwise. A source may report
// context.Canceled instead, or end without an error, and half a list must not pass for a whole one.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// handle gives one event of a watch to the caller. The machine decides its type and its resourceVersion.
func (e *engine[T]) handle(event *Event[T]) (result *Interruption, proceed bool) {
	in := input{signal: happened, event: event.Type, version: event.ResourceVersion}
	switch event.Type {
	case WatchStarted:
		in.signal = opened
	case Synced:
		in.signal = endMarked
	}
	output, result := e.step(&in)
	event.Type, event.ResourceVersion = in.event, in.version
	switch {
	case result != nil, output == over:
		return result, false
	case output == listItem:
		return nil, e.item(event)
	case output == complete:
		return nil, e.complete() && e.send(Event[T]{Type: WatchStarted, ResourceVersion: e.machine.version})
	case output == liveNow:
		return nil, e.send(*event)
	}
	return nil, true
}

//go:noinline
func (e *engine[T]) fail(err error, objects int) *Interruption {
	_, result := e.step(&input{signal: failed, err: err, objects: objects})
	return result
}

// signal applies a signal without data.
//
//go:noinline
func (e *engine[T]) signal(s signal) *Interruption {
	_, result := e.step(&input{signal: s})
	return result
}

func (e *engine[T]) step(in *input) (output, *Interruption) {
	now := time.Now()
	if e.replay != nil {
		now = e.replay()
	}
	if e.epoch.IsZero() {
		e.epoch = now.Add(-time.Second)
	}
	in.now = now.Sub(e.epoch)
	e.now = in.now
	return e.machine.step(in)
}

// idle returns how long the request may bring nothing. In a replay, which has a clock of its own, nothing takes too long.
func (e *engine[T]) idle() time.Duration {
	if e.replay != nil {
		return 1<<63 - 1
	}
	return e.machine.idle()
}

// wait waits for the delay of an Interruption, and returns false if ctx ends first. Wake skips the rest of the delay.
func (e *engine[T]) wait(b *Interruption) bool {
	if b.Delay <= 0 || e.replay != nil {
		return true
	}
	wake := e.opts.Wake
	timer := time.NewTimer(b.Delay)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-e.ctx.Done():
			return false
		case _, open := <-wake:
			if open {
				return true
			}
			wake = nil
		}
	}
}
