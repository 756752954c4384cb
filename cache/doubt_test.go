package cache

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// listed folds a list of one object into a store and returns what it changed.
func listed[T lw.Keyed](s *Store[T], object T) []Delta[T] {
	s.fold(lw.Event[T]{Type: lw.Reset})
	deltas := append([]Delta[T](nil), s.fold(lw.Event[T]{Type: lw.Added, Object: object})...)
	return append(deltas, s.fold(lw.Event[T]{Type: lw.Synced, ResourceVersion: "7"})...)
}

// TestRestoredBackup: after a restore an object may have been written anew at the very version that is stored. Its text
// tells, whatever became known of the restore.
func TestRestoredBackup(t *testing.T) {
	parse := func(value string) *lw.Object {
		object, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"7"},"data":` + value + `}`))
		require.NoError(t, err)
		return object
	}
	old, restored := parse("1"), parse("2")
	s := newStore[*lw.Object]()
	require.Len(t, listed(s, old), 1)
	require.Equal(t, []Delta[*lw.Object]{{Type: Updated, Old: old, New: restored}}, listed(s, restored))
	require.Empty(t, listed(s, parse("2")))
}

// incomparable is an object that cannot tell whether another one is the same.
type incomparable struct{ value string }

func (incomparable) GetNamespace() string       { return "" }
func (incomparable) GetName() string            { return "a" }
func (incomparable) GetResourceVersion() string { return "7" }

// TestRestoredBackupOfOtherTypes: when versions ran backwards, the next list is taken for what it says, and only that one.
func TestRestoredBackupOfOtherTypes(t *testing.T) {
	old, restored := incomparable{"1"}, incomparable{"2"}
	for _, cause := range []error{lw.ErrVersionRegressed, lw.ErrTooLarge} {
		s := newStore[incomparable]()
		known := func() bool {
			_, ok := s.known(nil, []byte("a"), []byte("7"))
			return ok
		}
		require.Len(t, listed(s, old), 1)
		require.True(t, known())
		s.fold(lw.Event[incomparable]{Type: lw.Interrupted, Break: &lw.Break{Err: cause, Relist: true}})
		require.False(t, known(), "it must be decoded anew")
		require.Equal(t, []Delta[incomparable]{{Type: Updated, Old: old, New: restored}}, listed(s, restored))
		require.True(t, known())
		require.Empty(t, listed(s, old))
	}
}
