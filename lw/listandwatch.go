package lw

import (
	"context"
	"iter"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/internal/tracing"
)

const defaultPageSize = 500

// Options configure [ListAndWatch]. The zero value is good.
type Options struct {
	LabelSelector string // as "app=web,tier!=db"; passed through to the server
	FieldSelector string // as "spec.nodeName=n1"; passed through to the server
	ShardSelector string // a part of the collection, see ListOptions; makes every list an ordinary one, which tells whether it was heeded

	// PageSize is how many objects a list asks for at once; 500 if zero; below zero: all.
	PageSize int

	// MaxObjects limits how many objects a cache.Reflector holds, so that a server cannot fill the memory. One more ends the
	// run with a *[TooManyObjectsError]. While another list arrives, the cache may hold twice as many. Zero is no limit.
	// ListAndWatch itself ignores it, because it holds no objects.
	MaxObjects int

	// NoStreamingList makes every list an ordinary one. By default a streaming list is tried first, which spares the
	// server the work of building a large response; a server that refuses it, or fails to
	// complete it twice in a row, gets ordinary ones from then on, from all streams of the same [Client].
	NoStreamingList bool

	// ResumeFrom starts the stream with a watch from this resourceVersion instead of a list, for example to continue from a
	// saved state. If it has expired, the stream lists. If it is newer than the server's, the stream notices after about five
	// minutes without events and lists. A server whose own resourceVersion has passed it by then cannot be told from the right
	// one, so save a state together with its server. "" and "0" start with a list.
	ResumeFrom string

	// Wake, if not nil, makes the stream check at once whether its connection is still alive, instead of within 10 seconds,
	// and skips any delay. Send on it when a machine or a browser tab wakes up, or when the network is back. Each stream
	// needs its own channel.
	Wake <-chan struct{}

	// StopOn is asked about the cause of every interruption; true ends the sequence after the Interrupted event. nil
	// means to go on trying. [IsPermanent] stops where the server says no for good.
	StopOn func(cause error) bool

	// Logger receives a warning about each interruption that needs attention: its cause, the next request and the remedy. A
	// cause is logged at most once per minute. A clean close is not logged. A healthy watch that resumes after a connection
	// error is not logged either. nil means slog.Default(), or console.warn in JavaScript. For no log, use
	// slog.New(slog.DiscardHandler).
	Logger Logger
}

// ListAndWatch keeps one collection's event stream alive: it lists, watches from there, resumes where a watch broke, and
// lists again where it cannot, until ctx ends, the caller stops iterating, or opts.StopOn says so. opts may be nil.
//
// The fold of the events is the collection's state: see [EventType] for what each means. All happens in the caller's
// goroutine, between two iterations; a slow caller makes the server wait, and in the end close the watch, which is then
// resumed. A sequence may be iterated over several times, each beginning with a list, or from opts.ResumeFrom.
func ListAndWatch[T Keyed](ctx context.Context, lw ListerWatcher[T], opts *Options) iter.Seq[Event[T]] {
	if opts == nil {
		opts = &Options{}
	}
	return func(yield func(Event[T]) bool) {
		c := clock.From(ctx)
		machine := newMachine(opts, supportOf(lw), c.Random)
		e := engine[T]{ctx: ctx, source: lw, opts: opts, machine: machine, replay: c.Replay, trace: tracing.From[Trace](ctx), yield: yield}
		e.reporter = newReporter(opts.Logger, lw)
		defer e.trace.stopped()
		for ctx.Err() == nil && e.request() {
		}
	}
}

// supportOf returns what is known of the source's server. All streams of a [Client] share it.
func supportOf[T Keyed](source ListerWatcher[T]) *support {
	if shared, ok := source.(interface{ supported() *support }); ok {
		return shared.supported()
	}
	streamer, ok := source.(listStreamer)
	return &support{noStreams: !ok || !streamer.StreamsLists()}
}
