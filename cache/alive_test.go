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

// TestModifiedObjectIsFreed: an object's name is a part of its text. What the store keeps of the first state, its key above
// all, must not keep the whole of it, for every object that has ever been updated.
func TestModifiedObjectIsFreed(t *testing.T) {
	store, writer := NewStore[*lw.Object](nil)
	first := putAll(t, writer, lw.Added, "1")
	writer.Fold(lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: "1"})
	require.NotNil(t, first.Value())
	second := putAll(t, writer, lw.Modified, "2")
	writer.Fold(lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "3"}) // the changes are valid until now
	require.True(t, eventually(func() bool { runtime.GC(); return first.Value() == nil }), "after an update")
	require.NotNil(t, second.Value())

	last := putAll(t, writer, lw.Deleted, "4")
	writer.Fold(lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "5"})
	require.True(t, eventually(func() bool { runtime.GC(); return second.Value() == nil && last.Value() == nil }), "after a deletion")
	runtime.KeepAlive(store)
}

// putAll folds an event with a large object, and returns a pointer to its text that does not keep it.
//
//go:noinline
func putAll(t *testing.T, writer *Writer[*lw.Object], event lw.EventType, version string) weak.Pointer[byte] {
	object, err := lw.ParseObject([]byte(`{"metadata":{"namespace":"a","name":"x","resourceVersion":"` + version +
		`"},"filler":"` + strings.Repeat("x", 64<<10) + `"}`))
	require.NoError(t, err)
	writer.Fold(lw.Event[*lw.Object]{Type: event, Object: object, ResourceVersion: version})
	return weak.Make(unsafe.StringData(object.Raw()))
}
