package cache

import (
	"bytes"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// saveAndRestore returns a fixture that has restored the saved snapshot of s.
func saveAndRestore(t *testing.T, s *fixture) *fixture {
	var text bytes.Buffer
	require.NoError(t, Save(&text, s.store.Snapshot(), origin, (*lw.Object).Raw))
	next := &fixture{t: t, script: &script{t: t}, fold: fold{}}
	next.informer = NewInformer(next.script, plainLists())
	next.store = next.informer.Store()
	require.NoError(t, next.informer.Restore(&text, origin, lw.ParseObject))
	return next
}

// A process must not resume from a saved store that had to relist, because the store may lack objects. Its first
// request must be a list, and it must not reuse the saved objects.
func TestSaveRemembersThatStoreMustRelist(t *testing.T) {
	for name, lines := range map[string][]string{
		"before the relist":             {"list@7 a/x@1", "watch =2"},
		"after an unfinished relist":    {"list@7 a/x@1", "watch =2", "list a/x@1 !reset"},
		"interrupted a list":            {"list@7 a/x@1", "watch !expired", "list a/x@1 !reset"},
		"relist failed before an event": {"list@7 a/x@1", "watch =2", "list !reset"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				s.store.Snapshot() // a cached snapshot must not hide the fault
				s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool { s.store.Snapshot(); return true }
				s.run(lines...)
				if name == "interrupted a list" {
					applyAll(s.informer.store, lw.Event[*lw.Object]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: lw.ErrInconsistent, Relist: true}})
				}
				next := saveAndRestore(t, s)
				next.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
					if event.Type == lw.ListStarted && next.store.Len() > 0 { // the relist after the restored state
						_, known := next.store.known([]byte("a"), []byte("x"), nil, []byte("1"))
						require.False(t, known)
					}
					return true
				}
				require.Equal(t, "+a/x@1 restored +a/y@2 ok", next.run("list@9 a/x@1 a/y@2"))
				require.Equal(t, "9", next.store.Snapshot().ResourceVersion())
				require.Equal(t, "+a/x@1 +a/y@2 restored +a/z@10", saveAndRestore(t, next).run("watch +a/z@10"), "after the relist, a saved state can be resumed")
			})
		})
	}
}

// After ResumeFrom, the store lacks the objects that have not changed since. A process that restored it as complete would
// miss them until they change.
func TestSaveAfterResumeFromMakesNextRunList(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.informer.ResumeFrom("10")
		require.Equal(t, "restored +a/x@12", s.run("watch +a/x@12"))
		next := saveAndRestore(t, s)
		require.Equal(t, "+a/x@12 restored +a/y@7 ok", next.run("list@13 a/x@12 a/y@7"))

		s.store.Snapshot() // a cached snapshot must not hide that the list has completed the store
		s.run("watch !expired", "list@12 a/x@12")
		require.Equal(t, "+a/x@12 restored +a/z@14", saveAndRestore(t, s).run("watch +a/z@14"))
	})
}

// If the store must relist anyway, Save must succeed even if an object could not be decoded. Otherwise, an older file
// would remain.
func TestSaveOfDistrustedStoreIgnoresDecodeErrors(t *testing.T) {
	store, w := NewStore(nil, lw.Identity[*lw.Object]{})
	w.Replace("7", object("a/x@1"))
	applyAll(w.store, lw.Event[*lw.Object]{Type: lw.DecodeFailed, Err: &lw.DecodeError{Key: lw.Key{Name: "y"}}})
	var text bytes.Buffer
	require.ErrorIs(t, Save(&text, store.Snapshot(), origin, (*lw.Object).Raw), errUndecoded)
	applyAll(w.store, lw.Event[*lw.Object]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: lw.ErrInconsistent, Relist: true}})
	require.NoError(t, Save(&text, store.Snapshot(), origin, (*lw.Object).Raw))
}
