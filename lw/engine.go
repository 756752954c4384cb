package lw

import (
	"context"
	"errors"
	"iter"
	"time"
)

// engine carries out what the machine decides.
type engine[T Keyed] struct {
	ctx     context.Context
	lw      ListerWatcher[T]
	opts    *Options
	machine *machine
	trace   *Trace
	yield   func(Event[T]) bool
	reset   bool // Reset was sent since the last interruption
	listed  int  // objects of the list at hand
	gone    bool // the caller wants no more
}

// turn makes one request and handles its end. It returns false when the sequence is over.
func (e *engine[T]) turn() bool {
	var result *Break
	switch e.machine.phase {
	case listing, checking:
		result = e.list()
	case streaming, watching:
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
	e.send(Event[T]{Type: Interrupted, ResourceVersion: e.machine.version, Break: result})
	return !e.gone && e.wait(result)
}

// send gives an event to the caller, and remembers if it was the last that the caller wants.
func (e *engine[T]) send(event Event[T]) bool {
	e.trace.event(event.Type, event.ResourceVersion, event.Break, event.Err)
	if e.gone = e.gone || e.ctx.Err() != nil || !e.yield(event); e.gone {
		return false
	}
	return true
}

// list reads one page. When the machine only checks the version, the objects are of no interest.
func (e *engine[T]) list() *Break {
	check := e.machine.phase == checking
	opts := e.machine.list()
	opts.LabelSelector, opts.FieldSelector, opts.ShardSelector = e.opts.LabelSelector, e.opts.FieldSelector, e.opts.ShardSelector
	ctx, dog := guard(e.ctx, e.patience(silentRequest), e.opts.Wake)
	defer dog.stop()
	var meta ListMeta
	if !e.reset {
		e.listed = 0
	}
	before := e.listed
	for object, err := range e.lw.List(ctx, opts, &meta) {
		event := Event[T]{Type: Added, Object: object}
		if undecoded, ok := err.(*DecodeError); ok {
			event = Event[T]{Type: Undecoded, Err: undecoded}
		} else if err != nil {
			return e.step(input{signal: listFailed, err: causeOf(ctx, err)})
		}
		if e.tooMany() {
			return e.refuse()
		}
		dog.hold()
		if !check && (!e.begin() || !e.send(event)) {
			return nil
		}
		dog.resume(e.patience(silentRequest))
	}
	if err := causeOf(ctx, nil); err != nil {
		return e.step(input{signal: listFailed, err: err})
	}
	e.trace.page(meta)
	result := e.step(input{signal: pageRead, meta: meta, objects: e.listed - before})
	if !check && result == nil && e.machine.phase == watching {
		e.complete()
	}
	return result
}

// begin sends Reset before the first object of a list, and not before a try that fails earlier.
func (e *engine[T]) begin() bool {
	if e.reset {
		return true
	}
	e.reset = true
	return e.send(Event[T]{Type: Reset})
}

// tooMany counts another object of a list, and reports whether that is more than the caller wants.
func (e *engine[T]) tooMany() bool {
	e.listed++
	return e.opts.MaxObjects > 0 && e.listed > e.opts.MaxObjects
}

// refuse ends the sequence, as the collection is too large.
func (e *engine[T]) refuse() *Break {
	e.machine.phase = stopped
	return &Break{Err: &TooManyObjectsError{Limit: e.opts.MaxObjects}, Final: true}
}

// complete ends a list, which may have been empty.
func (e *engine[T]) complete() bool {
	return e.begin() && e.send(Event[T]{Type: Synced, ResourceVersion: e.machine.version})
}

// watch follows one watch, or one streaming list, which goes over into a watch. It spends hours here, so that what its
// frame holds is held for as long.
func (e *engine[T]) watch() *Break {
	e.listed = 0
	ctx, dog, events, timeout := e.askForWatch()
	defer dog.stop()
	bookmarked := false
	for event, err := range events {
		if undecoded, ok := err.(*DecodeError); ok {
			event = Event[T]{Type: Undecoded, Err: undecoded, ResourceVersion: event.ResourceVersion}
		} else if err != nil {
			return e.step(input{signal: watchFailed, err: causeOf(ctx, err)})
		}
		dog.hold()
		result, proceed := e.handle(event)
		if result != nil || !proceed {
			return result
		}
		bookmarked = bookmarked || event.Type == Bookmark
		dog.resume(e.patience(e.machine.silence(timeout, bookmarked)))
	}
	if err := causeOf(ctx, nil); err != nil {
		return e.step(input{signal: watchFailed, err: err})
	}
	return e.step(input{signal: watchEnded})
}

// causeOf returns what a request failed with: the cause for which its context ended, if it did. A source may tell that as
// context.Canceled, as net/http can, or just end, and half a list must not be taken for a whole one.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// askForWatch returns what the next watch brings, with its context, its watchdog and the timeout that it asks for.
func (e *engine[T]) askForWatch() (ctx context.Context, dog *watchdog, events iter.Seq2[Event[T], error], timeout time.Duration) {
	opts := e.machine.watch()
	opts.LabelSelector, opts.FieldSelector, opts.ShardSelector = e.opts.LabelSelector, e.opts.FieldSelector, e.opts.ShardSelector
	ctx, dog = guard(e.ctx, e.patience(e.machine.silence(opts.Timeout, false)), e.opts.Wake)
	return ctx, dog, e.lw.Watch(ctx, opts), opts.Timeout
}

// handle passes on one event of a watch, unless the machine finds fault with it.
func (e *engine[T]) handle(event Event[T]) (result *Break, proceed bool) {
	listPart := e.machine.phase == streaming
	signal := watchMoved
	switch {
	case event.Type == Live:
		signal = watchOpened
	case event.Type == Synced:
		signal = watchSynced
	}
	if result = e.step(input{signal: signal, version: event.ResourceVersion}); result != nil {
		return result, false
	}
	event.ResourceVersion = e.machine.version
	switch {
	case event.Type == Synced:
		return nil, e.complete() && e.send(Event[T]{Type: Live, ResourceVersion: e.machine.version})
	case listPart && (event.Type == Live || event.Type == Bookmark): // there is nothing yet that could be fresh
		return nil, true
	case listPart && e.tooMany():
		return e.refuse(), false
	case listPart:
		event.ResourceVersion = ""
		return nil, e.begin() && e.send(event)
	}
	return nil, e.send(event)
}

func (e *engine[T]) step(in input) *Break {
	if in.now = time.Now(); e.opts.Now != nil {
		in.now = e.opts.Now()
	}
	return e.machine.step(in)
}

// patience is how long a silence may be that the machine would bear for so long.
func (e *engine[T]) patience(silence time.Duration) time.Duration {
	if e.opts.Now != nil {
		return 1<<63 - 1
	}
	return silence
}

// wait lets a delay pass, or returns false when ctx ends first. Who is woken does not wait, unless the server spoke: then it
// was there, and its answer is the reason for the delay.
func (e *engine[T]) wait(b *Break) bool {
	if b.Delay <= 0 || e.opts.Now != nil {
		return true
	}
	wake := e.opts.Wake
	if _, spoke := errors.AsType[*StatusError](b.Err); spoke {
		wake = nil
	}
	timer := time.NewTimer(b.Delay)
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
