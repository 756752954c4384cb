package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// stalled is a source whose watches respond only after the channel answers is closed.
type stalled struct {
	liveObjects
	answers chan struct{}
}

func (s *stalled) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[*lw.Object], error] {
	return func(yield func(lw.Event[*lw.Object], error) bool) {
		select {
		case <-s.answers:
			s.liveObjects.Watch(ctx, opts)(yield)
		case <-ctx.Done():
			yield(lw.Event[*lw.Object]{}, context.Cause(ctx))
		}
	}
}

// Until the server has answered, no API may report a restored state as live or synced.
func TestRestoredStateIsStaleUntilTheServerAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &stalled{liveObjects{events: make(chan lw.Event[*lw.Object])}, make(chan struct{})}
		informer := NewInformer(source, plainLists())
		require.NoError(t, informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, lw.ParseObject))
		n := &log{}
		registration := informer.Handle(n.handler(), nil)
		var group Group
		group.Add("things", informer)
		require.Equal(t, lw.State{}, informer.State())
		ctx, stop := context.WithCancel(t.Context())
		working := false
		done := make(chan error)
		go func() {
			done <- group.Run(ctx, func(ctx context.Context) error { working = true; <-ctx.Done(); return nil })
		}()
		began := time.Now()
		time.Sleep(30 * time.Second)
		require.Equal(t, 2, informer.Store().Len())
		require.Equal(t, "+x@1! +y@2!", n.take())
		require.Equal(t, lw.Stale, informer.State().Phase)
		require.Equal(t, began, informer.State().Since)
		for name, synced := range map[string]<-chan struct{}{"store": informer.Store().Synced(), "informer": informer.Synced(), "handler": registration.Synced()} {
			require.False(t, isClosed(synced), "the %s must not be synced before the server has answered", name)
		}
		require.False(t, working)
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, informer.Store().WaitFor(waiting, ""))

		close(source.answers)
		synctest.Wait()
		require.Equal(t, lw.Live, informer.State().Phase)
		require.Equal(t, time.Now(), informer.State().Since)
		require.True(t, isClosed(informer.Synced()) && isClosed(registration.Synced()) && isClosed(informer.Store().Synced()) && working)
		for name, state := range group.States() {
			require.Equal(t, "things", name)
			require.Equal(t, informer.State(), state)
		}
		stop()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Equal(t, lw.Stopped, informer.State().Phase)
		require.ErrorIs(t, informer.State().Cause, context.Canceled)
	})
}

// After a restore, the relist must report new objects without Initial, because they were created after the restored
// state.
func TestAdditionsAfterRestoreAreNotInitial(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, lw.ParseObject))
		initial := map[string]bool{}
		s.onEvent = func(_ lw.Event[*lw.Object], changes []Change[*lw.Object]) bool {
			for _, change := range changes {
				if change.Type == lw.Added {
					initial[change.New.GetName()] = change.Initial
				}
			}
			return true
		}
		s.run("watch !expired", "list@9 x@1 y@2 z@8")
		require.Equal(t, map[string]bool{"x": true, "y": true, "z": false}, initial)
	})
}

// The phase of an informer must follow its stream. If the stream ends with a permanent error, the error must be the
// cause of the last state.
func TestInformerState(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		var phases []lw.Phase
		s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
			phases = append(phases, s.informer.State().Phase)
			return true
		}
		s.informer.opts.StopOn = lw.IsPermanent
		s.run("list x@1 !reset", "list@2 x@1", "watch ~x@3 !reset", "watch !forbidden")
		require.Equal(t, []lw.Phase{
			lw.Listing, lw.Listing, lw.Waiting, // the first list breaks
			lw.Listing, lw.Listing, lw.Listing,
			lw.Live, lw.Live, lw.Stale,
			lw.Live, lw.Stopped,
		}, phases)
		require.Equal(t, lw.Stopped, s.informer.State().Phase)
		require.True(t, errors.Is(s.informer.State().Cause, lw.ErrForbidden))
	})
}

// A trace must receive the events that replay a restored state, so that metrics show the same phase as the informer,
// even if the server does not answer. The trace must also be notified if the run ends before its first request.
func TestTraceReceivesRestoredState(t *testing.T) {
	for stop, want := range [][]string{
		{"LIST_STARTED", "stopped"},
		{"LIST_STARTED", "ADDED x", "stopped"},
		{"LIST_STARTED", "ADDED x", "RESTORED", "stopped"},
		{"LIST_STARTED", "ADDED x", "RESTORED", "WATCH_STARTED", "stopped"},
	} {
		for end, wayToStop := range []string{"break", "cancel"} {
			t.Run(fmt.Sprint(stop, " ", wayToStop), func(t *testing.T) {
				withFixture(t, func(t *testing.T, s *fixture) {
					require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1")), origin, lw.ParseObject))
					s.script.lines = []string{"watch"}
					var traced []string
					var state lw.State
					ctx, cancel := context.WithCancel(lw.WithTrace(t.Context(), &lw.Trace{
						Event: func(event lw.Event[lw.Keyed]) {
							text := event.Type.String()
							if event.Object != nil {
								text += " " + event.Object.GetName()
							}
							traced = append(traced, text)
							state = state.After(event.Type, event.Interruption, time.Now())
						},
						Stopped: func() { traced = append(traced, "stopped") },
					}))
					defer cancel()
					n := -1
					for range s.informer.Follow(ctx) {
						require.Equal(t, s.informer.State().Phase, state.Phase)
						if n++; n < stop {
							continue
						}
						if end == 0 {
							break
						}
						cancel()
					}
					require.Equal(t, want, traced)
				})
			})
		}
	}
}
