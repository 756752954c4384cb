package cache

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// After a connection breaks, the informer must request one object to check whether the server was rebuilt. If it was,
// the store's resourceVersion belongs to another history, so the informer must relist.
func TestRebuiltServerIsDetected(t *testing.T) {
	for name, c := range map[string]struct {
		check  string // response to the check
		relist bool
	}{
		"nothing has changed":                    {"check+@10 a@3#u1", false},
		"the object was modified since":          {"check+@20 a@15#u1", false},
		"the object was recreated since":         {"check+@20 a@15#u9", true},
		"an object was added since":              {"check+@20 0@15#u9", false},
		"another object has an older version":    {"check+@20 0@8#u9", true},
		"the UID differs":                        {"check+@20 a@3#u9", true},
		"the resourceVersion differs":            {"check+@20 a@7#u1", true},
		"the collection is empty":                {"check@20", true},
		"the resourceVersion is lower":           {"check+@5 a@3#u1", true},
		"the list has an opaque resourceVersion": {"check+@x a@y#u1", false},
		"the object is hidden":                   {"check+@20", false},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				var causes []error
				s.onEvent = func(e lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
					if e.Type == lw.Interrupted && e.Interruption.Err != lw.ErrWatchClosed {
						causes = append(causes, e.Interruption.Err)
					}
					return true
				}
				lines := []string{"list@10 a@3#u1 b@9#u2", "watch !reset", c.check}
				if c.relist {
					s.run(append(lines, "list@21 b@9#u3", "watch")...)
					require.Len(t, causes, 2)
					require.ErrorIs(t, causes[1], lw.ErrInvalidResponse)
					require.Equal(t, 1, s.store.Len())
				} else {
					s.run(append(lines, "watch")...)
					require.Len(t, causes, 1, "a healthy collection must not be listed again")
					require.Equal(t, 2, s.store.Len())
				}
			})
		})
	}
}

// After a connection breaks, the check may return a newer object even though the server was rebuilt. The watch may then
// start from a resourceVersion of the old server and send no events. Therefore the state must not be live until the
// watch delivers the newer object.
func TestWatchIsLiveOnlyAfterItDeliversTheKnownChange(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		live := 0
		s.onEvent = func(e lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			if e.Type == lw.WatchStarted {
				live++
				require.Equal(t, lw.Live, s.informer.State().Phase)
			}
			return true
		}
		s.run("list@10 a@3#u1", "watch !reset", "check+@30 a@25#u1", "watch !silent", "list@31 a@25#u1", "watch")
		require.Equal(t, 2, live, "the silent watch must not look live")
		live = 0
		s.run("watch !reset", "check+@50 a@45#u1", "watch ~a@45#u1 ~a@46#u1", "watch")
		require.Equal(t, 3, live)
	})
}

// A server may be rebuilt between two runs of a program that saves its state.
func TestServerRebuiltBetweenRunsIsDetected(t *testing.T) {
	for name, check := range map[string]string{"another UID": "check+@20 x@1#u9", "empty": "check@20", "lower": "check+@3 x@1"} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1#u1", "y@2")), origin, lw.ParseObject))
				var live []int // number of objects whenever the store is live
				s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
					if s.informer.State().Phase == lw.Live {
						live = append(live, s.store.Len())
					}
					return true
				}
				s.run(check, "list@21 b@9", "watch")
				require.Equal(t, 1, s.store.Len())
				require.NotContains(t, live, 2, "objects of the old server must not look live")
			})
		})
	}
}

// If an object could not be decoded, the store does not contain it. The informer must not conclude from this that the
// server was rebuilt.
func TestUndecodedObjectsDoNotRefuteTheStore(t *testing.T) {
	s, w := NewStore(nil, lw.Identity[*lw.Object]{})
	applyAll(w.store, lw.Event[*lw.Object]{Type: lw.ListStarted},
		lw.Event[*lw.Object]{Type: lw.DecodeFailed, Err: &lw.DecodeError{Type: lw.Added, Key: lw.Key{Name: "a"}}},
		lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: "10"})
	require.True(t, s.verify(object("a@3")))
	require.False(t, s.verify(object("b@3")))
	require.True(t, s.verify(nil))
}

// After the server was rebuilt, the next run must not resume from the old server's resourceVersion.
func TestRebuiltServerIsDistrusted(t *testing.T) {
	s, w := NewStore(nil, lw.Identity[*lw.Object]{})
	w.Replace("10", object("a@3"))
	require.Equal(t, "10", s.resumable())
	applyAll(w.store, lw.Event[*lw.Object]{Type: lw.Interrupted, ResourceVersion: "10", Interruption: &lw.Interruption{Err: lw.ErrInconsistent, Relist: true}})
	require.Empty(t, s.resumable())
}
