package cache

import (
	"slices"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// These types do not support ==.
type (
	versioned struct {
		name, version string
		_             []int
	}
	texted struct {
		name  string
		words []string
	}
	unknown struct{ words []string }
)

func (versioned) GetNamespace() string         { return "" }
func (v versioned) GetName() string            { return v.name }
func (v versioned) GetResourceVersion() string { return v.version }

func (x texted) Equal(other texted) bool {
	return x.name == other.name && slices.Equal(x.words, other.words)
}

// For a type that does not support ==, a store compares objects with Equal, or by resourceVersion. If the type has neither
// method, every write counts as a change.
func TestWritesOfTypesWithoutEquality(t *testing.T) {
	seven, eight := versioned{name: "b", version: "7"}, versioned{name: "b", version: "8"}
	requireUpdates(t, nil, versioned{name: "a", version: "7"}, seven, eight, 0)
	requireUpdates(t, nil, versioned{name: "a"}, seven, eight, 1)
	key := func(x texted) lw.Key { return lw.Key{Name: x.name} }
	requireUpdates(t, key, texted{name: "a", words: []string{"x"}}, texted{name: "b", words: []string{"x"}}, texted{name: "b"}, 0)
	first := func(x unknown) lw.Key { return lw.Key{Name: x.words[0]} }
	requireUpdates(t, first, unknown{[]string{"a"}}, unknown{[]string{"b"}}, unknown{[]string{"b", "c"}}, 2)
	either := func(x any) lw.Key { return lw.Key{Name: x.([2]string)[0]} }
	requireUpdates[any](t, either, [2]string{"a"}, [2]string{"b"}, [2]string{"b", "c"}, 2)
	slice := func(x any) lw.Key { return lw.Key{Name: x.([]string)[0]} }
	requireUpdates[any](t, slice, []string{"a"}, []string{"b"}, []string{"b", "c"}, 2)
}

// requireUpdates stores two objects and replaces one of them. It then writes both again, and requires that this causes
// the given number of changes.
func requireUpdates[T any](t *testing.T, key func(T) lw.Key, stays, old, now T, want int) {
	t.Helper()
	_, writer := NewStore(key, lw.Identity[T]{})
	writer.Put(stays, old)
	require.Equal(t, []Change[T]{{Type: lw.Modified, Old: old, New: now}}, writer.Put(now))
	changes := writer.Put(stays, now)
	require.Len(t, changes, want)
}
