package lw

import (
	"context"
	"errors"
	"io"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// foreign is a ListerWatcher that is not a Client. Each step plays the response to one request.
type foreign struct {
	t        *testing.T
	steps    []foreignStep
	requests []string
}

// foreignStep emits the events of one request and returns its error. In a list, only the Object field of each event is
// used.
type foreignStep func(ctx context.Context, emit func(Event[*Object], error) bool) error

func (f *foreign) next(ctx context.Context, request string, emit func(Event[*Object], error) bool) {
	f.requests = append(f.requests, request)
	if len(f.requests) > len(f.steps) {
		emit(Event[*Object]{}, errHang)
		return
	}
	if err := f.steps[len(f.requests)-1](ctx, emit); err != nil {
		emit(Event[*Object]{}, err)
	}
}

// Each request's context must be canceled when the request ends, so that the source can release its resources.
func TestRequestContextsAreCanceled(t *testing.T) {
	var requests []context.Context
	step := func(ctx context.Context, emit func(Event[*Object], error) bool) error {
		requests = append(requests, ctx)
		if len(requests) > 1 {
			emit(Event[*Object]{Type: Bookmark, ResourceVersion: "9"}, nil)
		}
		return nil
	}
	for event := range ListAndWatch(t.Context(), &foreign{t: t, steps: []foreignStep{step, step}}, nil) {
		if event.Type == Bookmark {
			break
		}
	}
	require.Len(t, requests, 2)
	for _, ctx := range requests {
		require.Error(t, ctx.Err())
	}
}

func (f *foreign) List(ctx context.Context, opts ListOptions) *Page[*Object] {
	page := new(Page[*Object])
	page.Objects = func(yield func(*Object, error) bool) {
		if page.ResourceVersion = "5"; opts.Limit == 1 { // the check after a broken connection
			page.ResourceVersion = "7"
			return
		}
		f.next(ctx, "list", func(event Event[*Object], err error) bool { return yield(event.Object, err) })
	}
	return page
}

func (f *foreign) Watch(ctx context.Context, opts ListOptions) iter.Seq2[Event[*Object], error] {
	return func(yield func(Event[*Object], error) bool) {
		require.False(f.t, opts.SendInitialEvents, "the engine must not request a streaming list from this source")
		if yield(Event[*Object]{Type: WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			f.next(ctx, "watch "+opts.ResourceVersion, yield)
		}
	}
}

// play runs a stream over the given steps until the last step has run. It returns the events as strings, and the source
// with its recorded requests.
func play(t *testing.T, opts *Options, steps ...foreignStep) (events []string, f *foreign) {
	synctest.Test(t, func(t *testing.T) {
		f = &foreign{t: t, steps: steps}
		for event := range ListAndWatch(t.Context(), f, opts) {
			text := event.Type.String()
			if event.Interruption != nil {
				if text += " " + event.Interruption.Err.Error(); event.Interruption.Err == errHang {
					return
				}
			}
			events = append(events, text+" @"+event.ResourceVersion)
		}
	})
	return events, f
}

// at returns an event with the given resourceVersion. Its object has resourceVersion "7".
func at(t *testing.T, eventType EventType, version string) Event[*Object] {
	object, err := ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"7"}}`))
	require.NoError(t, err)
	return Event[*Object]{Type: eventType, Object: object, ResourceVersion: version}
}

func succeed(context.Context, func(Event[*Object], error) bool) error { return nil }

func (f *foreign) Source() *Source[*Object] { return nil }

// The stream must request streaming lists only if the ListerWatcher's Source has StreamsLists set. A type that embeds a
// Client inherits the Client's Source, so it receives such requests, too.
func TestStreamingListsNeedSupport(t *testing.T) {
	events, f := play(t, nil, succeed)
	require.Equal(t, []string{"LIST_STARTED @", "SYNCED @5", "WATCH_STARTED @5"}, events)
	require.Equal(t, []string{"list", "watch 5"}, f.requests)

	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{}
		for range ListAndWatch(t.Context(), struct{ *Client[*Object] }{s.client(t, Pods(""))}, &Options{StopOn: func(error) bool { return true }}) {
		}
		require.Contains(t, s.requests[0], "sendInitialEvents=true")
	})
}

// The changes of a transaction share one resourceVersion, and only the event of the last change contains it. If the
// connection breaks before that event, the stream must resume from the resourceVersion before the transaction.
func TestResumesBeforeTransaction(t *testing.T) {
	undecoded := &DecodeError{Type: Modified, Key: Key{Name: "b"}, ResourceVersion: "7", Err: errors.New("invalid object")}
	events, f := play(t, nil, succeed,
		func(_ context.Context, emit func(Event[*Object], error) bool) error {
			emit(at(t, Modified, ""), nil)
			emit(Event[*Object]{}, undecoded)
			return errReset
		},
		func(_ context.Context, emit func(Event[*Object], error) bool) error {
			emit(at(t, Modified, ""), nil)
			emit(Event[*Object]{ResourceVersion: "7"}, undecoded)
			return errReset
		})
	require.Equal(t, []string{
		"WATCH_STARTED @5", "MODIFIED @5", "DECODE_FAILED @5", "INTERRUPTED connection reset @5",
		"WATCH_STARTED @5", "MODIFIED @5", "DECODE_FAILED @7", "INTERRUPTED connection reset @7",
		"WATCH_STARTED @7",
	}, events[2:])
	require.Equal(t, []string{"list", "watch 5", "watch 5", "watch 7"}, f.requests)
}

// After its context is done, a source may return any error, or no error. Even then, a partial list must not count as
// complete.
func TestIdleTimeoutIgnoresSourceError(t *testing.T) {
	for _, result := range []error{context.Canceled, io.ErrUnexpectedEOF, nil} {
		silent := func(ctx context.Context, emit func(Event[*Object], error) bool) error {
			emit(at(t, Added, ""), nil)
			<-ctx.Done()
			return result
		}
		events, _ := play(t, nil, silent, succeed, silent)
		interrupted := "INTERRUPTED " + ErrSilent.Error()
		require.Equal(t, []string{
			"LIST_STARTED @", "ADDED @", interrupted + " @", "LIST_STARTED @", "SYNCED @5",
			"WATCH_STARTED @5", "ADDED @5", interrupted + " @5", "WATCH_STARTED @5",
		}, events, "%v", result)
	}
}

// An event without a type, or with a type that only a stream yields, must not reach the caller as a change.
func TestRejectsEventsOfInvalidType(t *testing.T) {
	for _, invalid := range []EventType{0, ListStarted, DecodeFailed, Interrupted, Restored, errorEvent, 255} {
		events, f := play(t, nil, succeed, func(_ context.Context, emit func(Event[*Object], error) bool) error {
			if emit(at(t, invalid, "7"), nil) {
				t.Error("the stream must end the watch")
			}
			return nil
		})
		require.Equal(t, []string{
			"WATCH_STARTED @5", "INTERRUPTED the source yielded an event of an invalid type @5", "WATCH_STARTED @5",
		}, events[2:], "type %d", invalid)
		require.Equal(t, []string{"list", "watch 5", "watch 5"}, f.requests)
	}
}
