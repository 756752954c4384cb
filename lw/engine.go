package lw

import (
	"context"
	"iter"
	"time"
)

// engine sends the requests that the machine chooses, and yields the resulting events to the caller.
type engine[T Keyed] struct {
	ctx         context.Context
	source      ListerWatcher[T]
	opts        *Options
	machine     *machine
	trace       *Trace
	yield       func(Event[T]) bool
	replay      func() time.Time // clock of a replay (nil for a live stream)
	epoch       time.Time        // time at which the stream's clock is zero
	listStarted bool             // whether ListStarted was yielded since the last interruption
	live        bool             // whether WatchStarted was yielded since the last interruption
	done        bool             // whether the caller stopped iterating or ctx is done

	now      moment // time of the last signal
	reporter reporter
}

// request makes one request and handles its response. It returns false when the sequence is over.
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
	if e.done || e.ctx.Err() != nil {
		return false
	}
	if result == nil {
		return true
	}
	e.listStarted, e.live = false, false
	if !e.machine.routine {
		e.reporter.report(result, e.now)
	}
	e.send(Event[T]{Type: Interrupted, ResourceVersion: e.machine.version, Interruption: result})
	return !e.done && e.wait(result)
}

// send yields an event. It returns false if the sequence is over.
func (e *engine[T]) send(event Event[T]) bool {
	if e.trace.Event != nil {
		untyped := Event[Keyed]{Type: event.Type, ResourceVersion: event.ResourceVersion, Interruption: event.Interruption, Err: event.Err}
		if event.Type >= Added && event.Type <= Deleted {
			untyped.Object = event.Object
		}
		e.trace.Event(untyped)
	}
	e.done = e.done || e.ctx.Err() != nil || !e.yield(event)
	return !e.done
}

// list reads one page of a list. In the checking state, it only compares the page with the state of the caller.
func (e *engine[T]) list() *Interruption {
	_, check := e.machine.state.(checking)
	opts := e.machine.listOptions()
	opts.LabelSelector, opts.FieldSelector, opts.ShardSelector = e.opts.LabelSelector, e.opts.FieldSelector, e.opts.ShardSelector
	ctx, dog := guard(e.ctx, e.idle(), e.opts.Wake)
	defer dog.stop()
	opts.Progress, opts.replaces = dog.progress, e.machine.version != ""
	var meta ListMeta
	page := input{signal: pageRead}
	verify := check && e.opts.Verify != nil
	for object, err := range e.source.List(ctx, opts, &meta) {
		event := Event[T]{Type: Added, Object: object}
		if err != nil && !event.decodeFailed(err) {
			return e.fail(&input{err: causeOf(ctx, err), objects: page.objects, meta: meta})
		}
		dog.pause()
		page.objects++
		if page.objects == 1 {
			page.start = keyOf(&event)
		}
		if check && page.objects == 1 && event.Type == Added {
			page.first = object.GetResourceVersion()
		}
		if verify {
			page.refuted = event.Type == Added && !e.opts.Verify(object)
			verify = false
		}
		if !check && !e.item(&event) {
			return nil
		}
		dog.resume(e.idle())
	}
	if err := causeOf(ctx, nil); err != nil {
		return e.fail(&input{err: err, objects: page.objects})
	}
	e.trace.page(meta)
	page.meta = meta
	if verify && meta.Continue == "" {
		page.refuted = !e.opts.Verify(nil)
	}
	output, result := e.step(&page)
	if output == complete {
		e.complete()
	}
	return result
}

// keyOf returns the key of an event's object, even if the codec could not decode the object.
func keyOf[T Keyed](event *Event[T]) Key {
	if event.Err != nil {
		return event.Err.Key
	}
	return KeyOf(event.Object)
}

// item yields an object of a list. It returns false if the sequence is over.
func (e *engine[T]) item(event *Event[T]) bool { return e.begin() && e.send(*event) }

// begin yields ListStarted before the first object of a list. It returns false if the sequence is over.
func (e *engine[T]) begin() bool {
	if e.listStarted {
		return true
	}
	e.listStarted = true
	return e.send(Event[T]{Type: ListStarted})
}

// complete yields Synced at the end of a list. If the list is empty, it first yields ListStarted.
func (e *engine[T]) complete() bool {
	return e.begin() && e.send(Event[T]{Type: Synced, ResourceVersion: e.machine.version})
}

// watch makes one watch request, which may begin with a streaming list. It runs for hours, so functions with large
// stack frames are not inlined into it.
func (e *engine[T]) watch() *Interruption {
	ctx, dog := guard(e.ctx, e.idle(), e.opts.Wake)
	defer dog.stop()
	for event, err := range e.events(ctx, dog) {
		if err != nil && !event.decodeFailed(err) {
			return e.fail(&input{err: causeOf(ctx, err), receiving: dog.receivingFor()})
		}
		dog.pause()
		if result, proceed := e.handle(&event, dog.receivingFor()); result != nil || !proceed {
			return result
		}
		dog.resume(e.idle())
	}
	if err := causeOf(ctx, nil); err != nil {
		return e.fail(&input{err: err})
	}
	return e.signal(endedClean)
}

//go:noinline
func (e *engine[T]) events(ctx context.Context, dog *watchdog) iter.Seq2[Event[T], error] {
	opts := e.machine.watchOptions()
	opts.Progress = dog.progress
	opts.LabelSelector, opts.FieldSelector, opts.ShardSelector = e.opts.LabelSelector, e.opts.FieldSelector, e.opts.ShardSelector
	return e.source.Watch(ctx, opts)
}

// causeOf returns context.Cause(ctx) if ctx is done, and otherwise err. A source may return context.Canceled instead of
// the cause. It may also end without an error, and then an incomplete list must not count as complete.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// handle applies one event of a watch to the machine and yields the resulting event. It returns proceed == false if the
// request or the sequence is over. receiving is the time that the event took to arrive.
func (e *engine[T]) handle(event *Event[T], receiving time.Duration) (result *Interruption, proceed bool) {
	in := input{signal: happened, event: event.Type, version: event.ResourceVersion, receiving: receiving}
	switch event.Type {
	case WatchStarted:
		in.signal = opened
	case Synced:
		in.signal = endMarked
	}
	resumed := e.machine.version
	output, result := e.step(&in)
	event.Type, event.ResourceVersion = in.event, in.version
	switch {
	case result != nil, output == requestOver:
		return result, false
	case output == listItem:
		return nil, e.item(event)
	case output == complete:
		return nil, e.complete() && e.start(e.machine.version)
	case output == liveNow && event.Type == WatchStarted:
		return nil, e.start(event.ResourceVersion)
	case output == liveNow:
		return nil, e.start(resumed) && e.send(*event)
	}
	return nil, true
}

// start yields WatchStarted before the first event of a watch. It returns false if the sequence is over.
func (e *engine[T]) start(version string) bool {
	if e.live {
		return true
	}
	e.live = true
	return e.send(Event[T]{Type: WatchStarted, ResourceVersion: version})
}

//go:noinline
func (e *engine[T]) fail(in *input) *Interruption {
	in.signal = failed
	_, result := e.step(in)
	return result
}

// signal applies a signal without data to the machine. It returns nil if the stream was not interrupted.
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

// idle returns the idle timeout of the current request. A replay has no idle timeout.
func (e *engine[T]) idle() time.Duration {
	if e.replay != nil {
		return 1<<63 - 1
	}
	return e.machine.idle()
}

// wait blocks for the delay of an interruption. It returns false if ctx is done before the delay ends. A value on
// opts.Wake ends the delay early.
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
