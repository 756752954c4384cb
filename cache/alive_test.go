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

// An object's name is a substring of its JSON text. If an object is overwritten, the store must not keep the old text
// in memory through the name.
func TestModifiedObjectIsFreed(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	first := applyLarge(t, writer, lw.Added, "1")
	applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: "1"})
	require.NotNil(t, first.Value())
	second := applyLarge(t, writer, lw.Modified, "2")
	applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "3"}) // makes the writer release the changes from the previous call
	require.True(t, eventually(func() bool { runtime.GC(); return first.Value() == nil }), "the old JSON must be freed after an update")
	require.NotNil(t, second.Value())

	last := applyLarge(t, writer, lw.Deleted, "4")
	applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "5"})
	require.True(t, eventually(func() bool { runtime.GC(); return second.Value() == nil && last.Value() == nil }), "the JSON must be freed after a deletion")
	runtime.KeepAlive(store)
}

// applyLarge applies an event with a large object and returns a weak pointer to the object's JSON text.
//
//go:noinline
func applyLarge(t *testing.T, writer *Writer[*lw.Object], event lw.EventType, version string) weak.Pointer[byte] {
	object, err := lw.ParseObject([]byte(`{"metadata":{"namespace":"a","name":"x","resourceVersion":"` + version +
		`"},"filler":"` + strings.Repeat("x", 64<<10) + `"}`))
	require.NoError(t, err)
	applyAll(writer.store, lw.Event[*lw.Object]{Type: event, Object: object, ResourceVersion: version})
	return weak.Make(unsafe.StringData(object.Raw()))
}
