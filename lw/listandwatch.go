package lw

import (
	"context"
	"iter"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/internal/tracing"
)

const defaultPageSize = 500

// Options configures [ListAndWatch]. The zero value is ready to use.
type Options struct {
	LabelSelector string // for example "app=web,tier!=db"
	FieldSelector string // for example "spec.nodeName=n1"

	// ShardSelector selects a part of the collection, as in [ListOptions]. It disables streaming lists, because their
	// responses do not show whether the server applied the selector.
	ShardSelector string

	// PageSize is the number of objects per page of a list. Zero means 500. A negative value requests all objects in
	// one page.
	PageSize int

	// MaxObjects limits the number of objects in a cache.Reflector, to bound its memory. If the collection is larger,
	// the Reflector stops with [ErrTooManyObjects]. During a relist the cache may hold twice as many objects. Zero
	// means no limit. ListAndWatch ignores MaxObjects, because it stores no objects.
	MaxObjects int

	// NoStreamingList disables streaming lists. By default the stream tries a streaming list first, which costs the
	// server less memory than an ordinary list. If the server rejects streaming lists or fails to complete two in a
	// row, all streams of the [Client] fall back to ordinary lists.
	NoStreamingList bool

	// ResumeFrom starts the stream with a watch from this resourceVersion instead of a list. Use it to continue from a
	// saved state. If the resourceVersion has expired, the stream relists. "" and "0" start with a list.
	//
	// If ResumeFrom is newer than the server's resourceVersion, the stream relists after about five minutes without
	// events. If ResumeFrom is older but comes from another server, the stream cannot detect this. So save the server's
	// identity with the state.
	ResumeFrom string

	// Verify reports whether the caller's state agrees with the server. The stream calls it before it resumes a watch
	// after a broken connection, because a rebuilt server may have resourceVersions like those of the old one. first is
	// an object of the collection on the server, or nil if the collection is empty. If Verify returns false, the stream
	// relists. If Verify is nil, a cache.Reflector compares the object with its store, and ListAndWatch compares only
	// resourceVersions.
	Verify func(first Keyed) bool

	// Wake triggers an immediate connection check and ends the current delay. Send a value when the machine or browser
	// tab wakes up, or when the network returns. Even without Wake, the stream checks the connection every 10 seconds.
	// Each stream needs its own channel. Wake may be nil.
	Wake <-chan struct{}

	// StopOn is called with the cause of every interruption. If it returns true, the sequence ends after the
	// Interrupted event. If StopOn is nil, the stream retries forever. Use [IsPermanent] to end the stream when
	// retrying cannot help.
	StopOn func(cause error) bool

	// Logger receives a warning about each interruption that needs attention. The warning states the cause, when the
	// next request follows, and how to fix the problem. The same cause is logged at most once per minute. Clean closes
	// and connection errors of healthy watches are not logged. If Logger is nil, the stream logs to slog.Default(), or
	// to console.warn in JavaScript. To disable logging, use slog.New(slog.DiscardHandler).
	Logger Logger
}

// ListAndWatch returns an endless sequence of events that describes one collection. It lists the collection, watches
// it, resumes broken watches, and relists if a watch cannot resume. The sequence ends when ctx is done, the caller
// stops iterating, or opts.StopOn returns true. opts may be nil.
//
// The state of the collection is the fold of the events. The constants of [EventType] describe the meaning of each
// event.
//
// All work happens in the caller's goroutine between two iterations. If the caller is slow, the server may close the
// watch, and the stream then resumes it. The sequence may be iterated several times. Each iteration starts with a list,
// or from opts.ResumeFrom.
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

// supportOf returns the known capabilities of the server behind source. All streams of a [Client] share them.
func supportOf[T Keyed](source ListerWatcher[T]) *support {
	if shared, ok := source.(interface{ supported() *support }); ok {
		return shared.supported()
	}
	streamer, ok := source.(listStreamer)
	return &support{noStreams: !ok || !streamer.StreamsLists()}
}
