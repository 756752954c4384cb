package cache

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// Each case cancels ctx at a different point in the stream. Run must return the cause of the cancellation.
func TestRunReturnsContextCause(t *testing.T) {
	enough := errors.New("canceled by the caller")
	for name, lines := range map[string][]string{
		"during a watch request":   {"list@1 x@1", "watch ~x@2"},
		"during the first request": nil,
		"during a delay":           {"list !reset", "list !reset", "list !reset"},
		"after a clean close":      {"list@1", "watch =2", "watch =3"},
		"during a relist":          {"list@1", "watch !expired"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				ctx, cancel := context.WithCancelCause(t.Context())
				s.script.lines, s.script.end = lines, func() { cancel(enough) }
				if name == "during a delay" {
					time.AfterFunc(time.Second, func() { cancel(enough) })
				}
				require.Equal(t, enough, s.informer.Run(ctx))
			})
		})
	}
}

func TestRunReturnsStopOnCause(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.informer.opts = lw.Options{StopOn: lw.IsPermanent, NoStreamingList: true}
		s.script.lines = []string{"list !reset", "list@1 x@1", "watch !reset", "watch !forbidden"}
		err := s.informer.Run(t.Context())
		require.Equal(t, errs["forbidden"], err)
		require.Equal(t, 1, s.store.Len(), "the store must keep the object")
	})
}

// The store has only one writer, so two runs must not overlap. Consecutive runs are allowed.
func TestConcurrentRunsPanic(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
			require.PanicsWithValue(t, "cache: Run or Follow called before the previous run ended", func() { _ = s.informer.Run(t.Context()) })
			panic("panic in the loop")
		}
		require.PanicsWithValue(t, "panic in the loop", func() { s.run("list@1 x@1") })
		s.onEvent = nil
		require.Equal(t, "+x@1 ok", s.run("list@2 x@1"))
	})
}

// A second run must continue with the store of the first run, even if the first run ended during a list.
func TestSecondRunContinues(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.Equal(t, "+x@1 +y@2 ok +z@4", s.run("list@3 x@1 y@2", "watch +z@4"))
		x, _ := s.store.Get(lw.Key{Name: "x"})

		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool { return event.Type != lw.Added }
		require.Equal(t, "~z@4>5", s.run("list@7 z@5 x@1"), "the loop must exit in the middle of the list")
		require.Equal(t, 3, s.store.Len())
		require.Equal(t, "4", s.store.ResourceVersion())

		s.onEvent = nil
		require.Equal(t, "~y@2>8 -z@5? ok", s.run("list@9 x@1 y@8"))
		again, _ := s.store.Get(lw.Key{Name: "x"})
		require.Same(t, x, again)
	})
}

// If the store is complete, a second run must start without a list. The exception is a store whose resourceVersions ran
// backwards.
func TestSecondRunResumes(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.Equal(t, "+x@1 ok +y@4", s.run("list@3 x@1", "watch +y@4"))
		require.Equal(t, "~x@1>6 -y@7", s.run("watch ~x@6 -y@7 =9"))
		require.Equal(t, "~x@6>10", s.run("watch ~x@10"), "the run must resume from the bookmark, not from resourceVersion 7")
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool { return event.Type != lw.Interrupted }
		require.Equal(t, "", s.run("watch =2"))
		require.Empty(t, s.store.resumable())
		s.onEvent = nil
		require.Equal(t, "~x@10>1 ok", s.run("list@2 x@1"))
		require.Equal(t, "2", s.store.resumable())
	})
}

func TestEveryEventIsYielded(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		var types []lw.EventType
		s.onEvent = func(event lw.Event[*lw.Object], changes []Change[*lw.Object]) bool {
			types = append(types, event.Type)
			require.Equal(t, event.Type == lw.Interrupted, event.Interruption != nil)
			return true
		}
		s.run("list@3 x@1", "watch =4 ~x@5 -y@6 !expired", "list@7 x@1", "watch")
		require.Equal(t, []lw.EventType{
			lw.ListStarted, lw.Added, lw.Synced, lw.WatchStarted, lw.Bookmark, lw.Modified, lw.Deleted, lw.Interrupted,
			lw.ListStarted, lw.Added, lw.Synced, lw.WatchStarted, lw.Interrupted,
		}, types)
	})
}
