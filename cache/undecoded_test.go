package cache

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// If an object cannot be decoded, the store must keep the object's previous state until a later state is decoded or the
// object is deleted.
func TestUndecodedObjectsAreKept(t *testing.T) {
	type event = lw.Event[*lw.Object]
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	undecoded := func(kind lw.EventType, name string) event {
		return event{Type: lw.DecodeFailed, Err: &lw.DecodeError{Type: kind, Key: lw.Key{Name: name}, Err: errors.New("no")}}
	}
	added := func(word string) event { return event{Type: lw.Added, Object: object(word)} }
	stale := func() (names []string) {
		for _, err := range store.DecodeErrors() {
			names = append(names, err.Key.Name)
		}
		return names
	}
	holds := func(want ...string) {
		t.Helper()
		require.Equal(t, want, names(slices.Values(store.List())))
	}
	applyAll(writer.store, event{Type: lw.ListStarted}, added("x@1"), added("y@1"), undecoded(lw.Added, "z"), event{Type: lw.Synced, ResourceVersion: "2"})
	holds("x", "y")
	require.Equal(t, []string{"z"}, stale())

	require.Empty(t, applyAll(writer.store, undecoded(lw.Modified, "x")))
	holds("x", "y")
	require.ElementsMatch(t, []string{"x", "z"}, stale())

	changes := applyAll(writer.store, event{Type: lw.ListStarted}, undecoded(lw.Added, "x"), event{Type: lw.Synced, ResourceVersion: "3"})
	require.Len(t, changes, 1, "a list must delete only the objects that it does not contain")
	holds("x")
	require.Equal(t, []string{"x"}, stale())

	require.Len(t, applyAll(writer.store, added("x@5")), 1)
	require.Empty(t, stale())
	applyAll(writer.store, undecoded(lw.Modified, "x"), undecoded(lw.Added, "w"))
	changes = applyAll(writer.store, undecoded(lw.Deleted, "x"), undecoded(lw.Deleted, "w"))
	require.Len(t, changes, 1)
	require.Equal(t, "5", changes[0].Old.GetResourceVersion())
	holds()
	require.Empty(t, stale())

	applyAll(writer.store, added("x@8"), undecoded(lw.Modified, "x"))
	require.Len(t, applyAll(writer.store, event{Type: lw.Deleted, Object: object("x@9")}), 1)
	require.Empty(t, stale())
	applyAll(writer.store, event{Type: lw.ListStarted}, undecoded(lw.Added, "v"), event{Type: lw.ListStarted}, event{Type: lw.Synced, ResourceVersion: "9"})
	require.Empty(t, stale(), "an interrupted list must not leave decode errors")
	applyAll(writer.store, event{Type: lw.ListStarted}, undecoded(lw.Added, "v"), added("v@10"), event{Type: lw.Synced, ResourceVersion: "11"})
	require.Empty(t, stale(), "decoding the object later in the same list must clear its decode error")
}

// A run that resumes from a saved state never receives objects that are missing from that state, so Save must fail.
func TestSaveRejectsUndecodedObjects(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	save := func() error { return Save(io.Discard, store.Snapshot(), origin, (*lw.Object).Raw) }
	writer.Replace("2", object("x@1"))
	require.NoError(t, save())
	applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.DecodeFailed, Err: &lw.DecodeError{Type: lw.Modified, Key: lw.Key{Name: "x"}, Err: errors.New("no")}})
	require.ErrorIs(t, save(), errUndecoded)
	applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Modified, Object: object("x@4"), ResourceVersion: "4"})
	require.NoError(t, save())
}
