package cache

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// TestRestoredBackup: after versions ran backwards an object may have been written anew at the very version that is
// stored. The next list is taken for what it says, and only that one.
func TestRestoredBackup(t *testing.T) {
	parse := func(value string) *lw.Object {
		object, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"7"},"data":` + value + `}`))
		require.NoError(t, err)
		return object
	}
	old, restored, again := parse("1"), parse("2"), parse("2")
	for _, cause := range []error{lw.ErrVersionRegressed, lw.ErrTooLarge} {
		s := newStore[*lw.Object]()
		list := func(object *lw.Object) []Delta[*lw.Object] {
			s.fold(lw.Event[*lw.Object]{Type: lw.Reset})
			deltas := append([]Delta[*lw.Object](nil), s.fold(lw.Event[*lw.Object]{Type: lw.Added, Object: object})...)
			return append(deltas, s.fold(lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: "7"})...)
		}
		known := func() bool {
			_, ok := s.known(nil, []byte("a"), []byte("7"))
			return ok
		}
		require.Len(t, list(old), 1)
		require.True(t, known())
		s.fold(lw.Event[*lw.Object]{Type: lw.Interrupted, Break: &lw.Break{Err: cause, Relist: true}})
		require.False(t, known(), "it must be decoded anew")
		require.Equal(t, []Delta[*lw.Object]{{Type: Updated, Old: old, New: restored}}, list(restored))
		require.True(t, known())
		require.Empty(t, list(again))
	}
}
