package cache

import (
	"iter"
	"slices"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// names returns the sorted keys of objects.
func names(objects iter.Seq[*lw.Object]) []string {
	var keys []string
	for object := range objects {
		keys = append(keys, lw.KeyOf(object).String())
	}
	slices.Sort(keys)
	return keys
}

func TestStoreAndNamespaceIndexReturnObjects(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.Zero(t, s.store.Len())
		require.Empty(t, s.store.List())
		byNamespace := NewIndex(s.store, ByNamespace[*lw.Object])
		require.Empty(t, byNamespace.List("a"))

		s.run("list@4 a/x@1 a/y@2 b/x@3 node@4", "watch")
		require.Equal(t, 4, s.store.Len())
		all := []string{"a/x", "a/y", "b/x", "node"}
		require.Equal(t, all, names(slices.Values(s.store.List())))
		for namespace, want := range map[string][]string{"a": {"a/x", "a/y"}, "b": {"b/x"}, "": {"node"}, "c": nil} {
			require.Equal(t, want, names(slices.Values(byNamespace.List(namespace))), namespace)
		}
		for word, version := range map[string]string{"a/x": "1", "b/x": "3", "node": "4", "b/y": "", "c/x": "", "a/node": "", "x": ""} {
			key := lw.KeyOf(object(word))
			got, ok := s.store.Get(key)
			require.Equal(t, version != "", ok, word)
			if ok {
				require.Equal(t, version, got.GetResourceVersion(), word)
			}
		}
	})
}

func TestHashCollisions(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	x := object("x@1")
	writer.Put(x)
	_, found, ok := store.find(&store.state, store.hash(lw.KeyOf(x)), lw.Key{Name: "y"})
	require.False(t, ok)
	require.Nil(t, found)
}

// A loop over a list may use the store. It must not see later writes.
func TestListIsConsistent(t *testing.T) {
	for _, list := range []func(*Store[*lw.Object]) []*lw.Object{
		(*Store[*lw.Object]).List,
		func(s *Store[*lw.Object]) []*lw.Object { return NewIndex(s, ByNamespace[*lw.Object]).List("a") },
	} {
		withFixture(t, func(t *testing.T, s *fixture) {
			s.run("list@4 a/x@1 a/y@2 a/z@3")
			seen := 0
			for _, object := range list(s.store) {
				seen++
				if seen == 1 {
					s.run("list@9 a/w@8") // deletes the objects that the loop has not yet yielded
					_, ok := s.store.Get(lw.KeyOf(object))
					require.False(t, ok)
				}
			}
			require.Equal(t, 3, seen)
		})
	}
}

func TestSyncedWaitsForFirstList(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		synced := false
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			synced = synced || event.Type == lw.Synced
			closed := false
			select {
			case <-s.store.Synced():
				closed = true
			default:
			}
			require.Equal(t, synced, closed, "Synced must be closed as soon as the first list is complete, and not earlier (event %v)", event.Type)
			return true
		}
		s.run("list !reset", "list+ a/x@1", "list a/y@2 !reset", "list@3 a/x@1", "watch !expired", "list a/x@1 !reset", "list@4")
		require.True(t, synced)
	})
}

// A watch from the store's resourceVersion must never miss a change.
func TestResourceVersion(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		var versions []string
		s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
			if version := s.store.ResourceVersion(); len(versions) == 0 || versions[len(versions)-1] != version {
				versions = append(versions, version)
			}
			return true
		}
		s.run("list x@1 !reset", "list+@5 x@1", "list@5 y@2") // the store reaches the resourceVersion of a list only when the list is complete
		require.Equal(t, []string{"", "5"}, versions)
		versions = nil
		s.run("list x@9 !reset", "list@10 x@9", "watch +y@11 =12 -y@13 !reset", "watch !expired", "list+@21 x@20", "list@21 y@19", "watch")
		require.Equal(t, []string{"5", "10", "11", "12", "13", "21"}, versions)
	})
}
