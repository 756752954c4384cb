package cache

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// TestRunReturnsTheCause of the context's end: the caller's own, in whatever it was busy with.
func TestRunReturnsTheCause(t *testing.T) {
	enough := errors.New("the caller had enough")
	for name, lines := range map[string][]string{
		"in a request":       {"list@1 x@1", "watch ~x@2"},
		"in the first":       nil,
		"while waiting":      {"list !reset", "list !reset", "list !reset"},
		"after a clean end":  {"list@1", "watch =2", "watch =3"},
		"in the next's list": {"list@1", "watch !expired"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				ctx, cancel := context.WithCancelCause(t.Context())
				s.script.lines, s.script.end = lines, func() { cancel(enough) }
				if name == "while waiting" {
					time.AfterFunc(time.Second, func() { cancel(enough) })
				}
				require.Equal(t, enough, s.reflector.Run(ctx))
			})
		})
	}
}

func TestRunReturnsStopOnCause(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.reflector.opts = lw.Options{StopOn: lw.IsPermanent, NoStreamingList: true}
		s.script.lines = []string{"list !reset", "list@1 x@1", "watch !reset", "watch !forbidden"}
		err := s.reflector.Run(t.Context())
		require.Equal(t, errs["forbidden"], err)
		require.Equal(t, 1, s.store.Len(), "what was known stays")
	})
}

// TestConcurrentRunsPanic: the store has one writer. One after the other is fine, whatever ended the first.
func TestConcurrentRunsPanic(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
			require.PanicsWithValue(t, "cache: Reflector used by two runs at the same time", func() { _ = s.reflector.Run(t.Context()) })
			panic("the loop's own")
		}
		require.PanicsWithValue(t, "the loop's own", func() { s.run("list@1 x@1") })
		s.onEvent = nil
		require.Equal(t, "+x@1 ok", s.run("list@2 x@1"))
	})
}

// TestSecondRunContinues with what the first left, even in the middle of a list.
func TestSecondRunContinues(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.Equal(t, "+x@1 +y@2 ok +z@4", s.run("list@3 x@1 y@2", "watch +z@4"))
		x, _ := s.store.Get(lw.Key{Name: "x"})

		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool { return event.Type != lw.Added }
		require.Equal(t, "~z@4>5", s.run("list@7 z@5 x@1"), "ended by the loop, with the list half read")
		require.Equal(t, 3, s.store.Len())
		require.Equal(t, "4", s.store.ResourceVersion())

		s.onEvent = nil
		require.Equal(t, "~y@2>8 -z@5? ok", s.run("list@9 x@1 y@8"))
		again, _ := s.store.Get(lw.Key{Name: "x"})
		require.Same(t, x, again)
	})
}

// TestSecondRunResumes: no list is needed for a store that is whole, unless versions were found to have run backwards.
func TestSecondRunResumes(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.Equal(t, "+x@1 ok +y@4", s.run("list@3 x@1", "watch +y@4"))
		require.Equal(t, "~x@1>6 -y@7", s.run("watch ~x@6 -y@7 =9"))
		require.Equal(t, "~x@6>10", s.run("watch ~x@10"), "from the bookmark's version: one from 7 would have been asked for as well")
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool { return event.Type != lw.Interrupted }
		require.Equal(t, "", s.run("watch =2"))
		require.Empty(t, s.store.resumable())
		s.onEvent = nil
		require.Equal(t, "~x@10>1 ok", s.run("list@2 x@1"))
		require.Equal(t, "2", s.store.resumable())
	})
}

// TestEveryEventIsYielded, also those that change nothing, so that a reader can tell how fresh the store is.
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
