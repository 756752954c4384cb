package cache

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// TestOldTextIsFreed: an object's name is a part of its text. What the store keeps of the first state, its key above
// all, must not keep the whole of it, for every object that has ever been updated.
func TestOldTextIsFreed(t *testing.T) {
	store := newStore[*lw.Object]()
	first := foldIn(t, store, lw.Added, "1")
	store.fold(lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: "1"})
	require.NotNil(t, first.Value())
	second := foldIn(t, store, lw.Modified, "2")
	store.fold(lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "3"}) // the deltas are valid until now
	require.True(t, eventually(func() bool { runtime.GC(); return first.Value() == nil }), "after an update")
	require.NotNil(t, second.Value())

	last := foldIn(t, store, lw.Deleted, "4")
	store.fold(lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "5"})
	require.True(t, eventually(func() bool { runtime.GC(); return second.Value() == nil && last.Value() == nil }), "after a deletion")
	runtime.KeepAlive(store)
}

// foldIn folds an event with a large object, and returns a pointer to its text that does not keep it.
//
//go:noinline
func foldIn(t *testing.T, store *Store[*lw.Object], event lw.EventType, version string) weak.Pointer[byte] {
	object, err := lw.ParseObject([]byte(`{"metadata":{"namespace":"a","name":"x","resourceVersion":"` + version +
		`"},"filler":"` + strings.Repeat("x", 64<<10) + `"}`))
	require.NoError(t, err)
	store.fold(lw.Event[*lw.Object]{Type: event, Object: object, ResourceVersion: version})
	return weak.Make(unsafe.StringData(object.Raw()))
}
