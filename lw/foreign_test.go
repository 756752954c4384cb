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

// foreign is a ListerWatcher that is no Client: each request is answered by the next step of a script.
type foreign struct {
	t     *testing.T
	steps []foreignStep
	asked []string
}

// foreignStep plays one request, and returns what it ends with. Of what a list tells only the objects count.
type foreignStep func(ctx context.Context, tell func(Event[*Object], error) bool) error

func (f *foreign) next(ctx context.Context, asked string, tell func(Event[*Object], error) bool) {
	f.asked = append(f.asked, asked)
	if len(f.asked) > len(f.steps) {
		tell(Event[*Object]{}, errHang)
		return
	}
	if err := f.steps[len(f.asked)-1](ctx, tell); err != nil {
		tell(Event[*Object]{}, err)
	}
}

// TestRequestsEndWithTheirSequence, so that a source can wait for its context to let go of what it has.
func TestRequestsEndWithTheirSequence(t *testing.T) {
	var asked []context.Context
	step := func(ctx context.Context, tell func(Event[*Object], error) bool) error {
		asked = append(asked, ctx)
		if len(asked) > 1 {
			tell(Event[*Object]{Type: Bookmark, ResourceVersion: "9"}, nil)
		}
		return nil
	}
	for event := range ListAndWatch(t.Context(), &foreign{t: t, steps: []foreignStep{step, step}}, nil) {
		if event.Type == Bookmark {
			break
		}
	}
	require.Len(t, asked, 2)
	for _, ctx := range asked {
		require.Error(t, ctx.Err())
	}
}

func (f *foreign) List(ctx context.Context, opts ListOptions, meta *ListMeta) iter.Seq2[*Object, error] {
	return func(yield func(*Object, error) bool) {
		meta.ResourceVersion = "5"
		f.next(ctx, "list", func(event Event[*Object], err error) bool { return yield(event.Object, err) })
	}
}

func (f *foreign) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[*Object], error] {
	return func(yield func(Event[*Object], error) bool) {
		require.False(f.t, opts.SendInitialEvents, "it does not stream lists")
		if yield(Event[*Object]{Type: WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			f.next(ctx, "watch "+opts.ResourceVersion, yield)
		}
	}
}

// played returns what a stream of the script tells until it is used up.
func played(t *testing.T, opts *Options, steps ...foreignStep) (events []string, f *foreign) {
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

// at is an event of an object that was written at version 7, which says that the collection has reached a version.
func at(t *testing.T, eventType EventType, reached string) Event[*Object] {
	object, err := ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"7"}}`))
	require.NoError(t, err)
	return Event[*Object]{Type: eventType, Object: object, ResourceVersion: reached}
}

func goesWell(context.Context, func(Event[*Object], error) bool) error { return nil }

// TestOthersAreNotAskedForStreamingLists, so that a ListerWatcher of another system needs to know nothing of them; one that
// passes on those of a client says so.
func TestOthersAreNotAskedForStreamingLists(t *testing.T) {
	events, f := played(t, nil, goesWell)
	require.Equal(t, []string{"LIST_STARTED @", "SYNCED @5", "WATCH_STARTED @5"}, events)
	require.Equal(t, []string{"list", "watch 5"}, f.asked)

	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{}
		wrapped := struct {
			ListerWatcher[*Object]
			listStreamer
		}{s.client(t, Pods("")), s.client(t, Pods(""))}
		for range ListAndWatch(t.Context(), wrapped, &Options{StopOn: func(error) bool { return true }}) {
		}
		require.Contains(t, s.asked[0], "sendInitialEvents=true")
	})
}

// TestATransactionIsResumedWhole: where several changes have one version and only the last of them says so, a stream that
// breaks in between goes on from the version before, also where an object did not decode.
func TestATransactionIsResumedWhole(t *testing.T) {
	undecoded := &DecodeError{Type: Modified, Key: Key{Name: "b"}, ResourceVersion: "7", Err: errors.New("not ours")}
	events, f := played(t, nil, goesWell,
		func(_ context.Context, tell func(Event[*Object], error) bool) error {
			tell(at(t, Modified, ""), nil)
			tell(Event[*Object]{}, undecoded)
			return errReset
		},
		func(_ context.Context, tell func(Event[*Object], error) bool) error {
			tell(at(t, Modified, ""), nil)
			tell(Event[*Object]{ResourceVersion: "7"}, undecoded)
			return errReset
		})
	require.Equal(t, []string{
		"WATCH_STARTED @5", "MODIFIED @5", "DECODE_FAILED @5", "INTERRUPTED connection reset @5",
		"WATCH_STARTED @5", "MODIFIED @5", "DECODE_FAILED @7", "INTERRUPTED connection reset @7",
		"WATCH_STARTED @7",
	}, events[2:])
	require.Equal(t, []string{"list", "watch 5", "watch 5", "watch 7"}, f.asked)
}

// TestSilenceIsToldWhateverASourceSays when its context ends: context.Canceled, another error, or nothing at all. Half a
// list is then no whole one.
func TestSilenceIsToldWhateverASourceSays(t *testing.T) {
	for _, says := range []error{context.Canceled, io.ErrUnexpectedEOF, nil} {
		silent := func(ctx context.Context, tell func(Event[*Object], error) bool) error {
			tell(at(t, Added, ""), nil)
			<-ctx.Done()
			return says
		}
		events, _ := played(t, nil, silent, goesWell, silent)
		interrupted := "INTERRUPTED " + ErrSilent.Error()
		require.Equal(t, []string{
			"LIST_STARTED @", "ADDED @", interrupted + " @", "LIST_STARTED @", "SYNCED @5",
			"WATCH_STARTED @5", "ADDED @5", interrupted + " @5", "WATCH_STARTED @5",
		}, events, "%v", says)
	}
}
