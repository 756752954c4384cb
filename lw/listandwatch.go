package lw

import (
	"context"
	"iter"
	"time"
)

const defaultPageSize = 500

// Options configure [ListAndWatch]. The zero value is good.
type Options struct {
	LabelSelector string // as "app=web,tier!=db"; passed through to the server
	FieldSelector string // as "spec.nodeName=n1"; passed through to the server

	// PageSize is how many objects a list asks for at once; 500 if zero; below zero: all.
	PageSize int

	// StopOn is asked about the cause of every interruption; true ends the sequence after the Interrupted event. nil
	// means to go on trying. [Refused] stops where the server says no for good.
	StopOn func(cause error) bool
}

// ListAndWatch keeps one collection's event stream alive: it lists, watches from there, resumes where a watch broke, and
// lists again where it cannot, until ctx ends, the caller stops iterating, or opts.StopOn says so. opts may be nil.
//
// The fold of the events is the collection's state: see [EventType] for what each means. All happens in the caller's
// goroutine, between two iterations; a slow caller makes the server wait, and in the end close the watch, which is then
// resumed. A sequence may be iterated over several times, each beginning with a list.
func ListAndWatch[T Keyed](ctx context.Context, lw ListerWatcher[T], opts *Options) iter.Seq[Event[T]] {
	if opts == nil {
		opts = &Options{}
	}
	return func(yield func(Event[T]) bool) {
		e := engine[T]{ctx: ctx, lw: lw, opts: opts, machine: newMachine(opts), yield: yield}
		for e.turn() {
		}
	}
}

// engine carries out what the machine decides.
type engine[T Keyed] struct {
	ctx     context.Context
	lw      ListerWatcher[T]
	opts    *Options
	machine *machine
	yield   func(Event[T]) bool
	reset   bool // Reset was sent, and Synced not yet
	gone    bool // the caller wants no more
}

// turn makes one request and handles its end. It returns false when the sequence is over.
func (e *engine[T]) turn() bool {
	var result *Break
	switch e.machine.phase {
	case listing:
		result = e.list()
	case watching:
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
	return !e.gone && e.wait(result.Delay)
}

// send gives an event to the caller, and remembers if it was the last that the caller wants.
func (e *engine[T]) send(event Event[T]) bool {
	if e.gone = e.gone || e.ctx.Err() != nil || !e.yield(event); e.gone {
		return false
	}
	return true
}

// list reads one page.
func (e *engine[T]) list() *Break {
	opts := e.machine.list()
	opts.LabelSelector, opts.FieldSelector = e.opts.LabelSelector, e.opts.FieldSelector
	var meta ListMeta
	for object, err := range e.lw.List(e.ctx, opts, &meta) {
		if err != nil {
			return e.step(input{signal: listFailed, err: err})
		}
		if !e.begin() || !e.send(Event[T]{Type: Added, Object: object}) {
			return nil
		}
	}
	result := e.step(input{signal: pageRead, meta: meta})
	if e.machine.phase == watching && e.begin() {
		e.reset = false
		e.send(Event[T]{Type: Synced, ResourceVersion: e.machine.version})
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

func (e *engine[T]) watch() *Break {
	opts := e.machine.watch()
	opts.LabelSelector, opts.FieldSelector = e.opts.LabelSelector, e.opts.FieldSelector
	for event, err := range e.lw.Watch(e.ctx, opts) {
		if err != nil {
			return e.step(input{signal: watchFailed, err: err})
		}
		signal := watchMoved
		if event.Type == Live {
			signal = watchOpened
		}
		e.step(input{signal: signal, version: event.ResourceVersion})
		event.ResourceVersion = e.machine.version
		if !e.send(event) {
			return nil
		}
	}
	return e.step(input{signal: watchEnded})
}

func (e *engine[T]) step(in input) *Break {
	in.now = time.Now()
	return e.machine.step(in)
}

// wait lets a delay pass, or returns false when ctx ends first.
func (e *engine[T]) wait(delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}
