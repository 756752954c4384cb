package cache

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// listed applies a list that contains only object, and returns the changes.
func listed[T lw.Keyed](w *Writer[T], object T) []Change[T] {
	applyAll(w.store, lw.Event[T]{Type: lw.ListStarted})
	changes := append([]Change[T](nil), applyAll(w.store, lw.Event[T]{Type: lw.Added, Object: object})...)
	return append(changes, applyAll(w.store, lw.Event[T]{Type: lw.Synced, ResourceVersion: "7"})...)
}

// After a backup is restored, an object can have different JSON at the same resourceVersion. The store must compare the
// JSON.
func TestRestoredBackup(t *testing.T) {
	parse := func(value string) *lw.Object {
		object, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"7"},"data":` + value + `}`))
		require.NoError(t, err)
		return object
	}
	old, restored := parse("1"), parse("2")
	_, w := NewStore(nil, lw.Identity[*lw.Object]{})
	require.Len(t, listed(w, old), 1)
	require.Equal(t, []Change[*lw.Object]{{Type: lw.Modified, Old: old, New: restored}}, listed(w, restored))
	require.Empty(t, listed(w, parse("2")))
}

// incomparable is an object type that supports neither == nor Equal.
type incomparable struct {
	value string
	_     []int
}

func (incomparable) GetNamespace() string       { return "" }
func (incomparable) GetName() string            { return "a" }
func (incomparable) GetResourceVersion() string { return "7" }

// Some types can be compared only by resourceVersion. After resourceVersions ran backwards, every such object in the
// next list must count as changed. In later lists, an object with the same resourceVersion must count as unchanged
// again.
func TestRestoredBackupOfOtherTypes(t *testing.T) {
	old, restored := incomparable{value: "1"}, incomparable{value: "2"}
	for _, cause := range []error{lw.ErrInconsistent, lw.ErrResourceVersionTooLarge} {
		s, w := NewStore(nil, lw.Identity[incomparable]{})
		known := func() bool {
			_, ok := s.known(nil, []byte("a"), nil, []byte("7"))
			return ok
		}
		require.Len(t, listed(w, old), 1)
		require.True(t, known())
		applyAll(w.store, lw.Event[incomparable]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: cause, Relist: true}})
		require.False(t, known(), "known() must reject the object so that it is decoded again")
		require.Equal(t, []Change[incomparable]{{Type: lw.Modified, Old: old, New: restored}}, listed(w, restored))
		require.True(t, known())
		require.Empty(t, listed(w, old))
	}
}

func TestListWithoutVersionClearsVersion(t *testing.T) {
	s, w := NewStore(nil, lw.Identity[*lw.Object]{})
	w.Replace("7", object("a/x@1"))
	require.Equal(t, "7", s.resumable())
	w.Replace("", object("a/x@1"))
	require.Empty(t, s.resumable())
	require.Empty(t, s.ResourceVersion())
}

// If the initial-events-end bookmark came too early, the store may lack objects. The next run must start with a list.
func TestMisplacedEndBookmarkForcesList(t *testing.T) {
	s, w := NewStore(nil, lw.Identity[*lw.Object]{})
	w.Replace("7")
	applyAll(w.store, lw.Event[*lw.Object]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: lw.ErrInconsistent, Relist: true}})
	require.Empty(t, s.resumable())
}
