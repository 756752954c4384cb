package cache

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// multiFixture runs a MergedStore with two sources, west and east. The test sends the watch events of both sources.
type multiFixture struct {
	*MergedStore[*lw.Object]
	west, east *liveObjects
}

func withMultiFixture(t *testing.T, west, east []string, key func(Sourced[*lw.Object]) lw.Key, test func(*testing.T, *multiFixture)) {
	synctest.Test(t, func(t *testing.T) {
		s := &multiFixture{
			west: &liveObjects{first: west, events: make(chan lw.Event[*lw.Object])},
			east: &liveObjects{first: east, events: make(chan lw.Event[*lw.Object])},
		}
		s.MergedStore = NewMergedStore(map[string]lw.ListerWatcher[*lw.Object]{"west": s.west, "east": s.east}, key, plainLists())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		test(t, s)
		cancel()
		require.Equal(t, context.Canceled, <-done)
	})
}

// requireState requires exactly the given objects in the merged store, in the syntax "source:key@version".
func (s *multiFixture) requireState(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	var held []string
	for m := range s.Store().All() {
		held = append(held, m.Source+":"+m.Object.Key().String()+"@"+m.Object.GetResourceVersion())
	}
	slices.Sort(held)
	require.Equal(t, want, held)
}

func send(l *liveObjects, kind lw.EventType, word string) {
	o := object(word)
	l.events <- lw.Event[*lw.Object]{Type: kind, Object: o, ResourceVersion: o.GetResourceVersion()}
}

func TestMergedStoreOfNamespaces(t *testing.T) {
	withMultiFixture(t, []string{"w/x@1"}, []string{"e/x@2", "e/y@2"}, nil, func(t *testing.T, s *multiFixture) {
		s.requireState(t, "east:e/x@2", "east:e/y@2", "west:w/x@1")
		send(s.west, lw.Modified, "w/x@7")
		send(s.east, lw.Deleted, "e/y@5")
		s.requireState(t, "east:e/x@2", "west:w/x@7")
		require.Equal(t, "7", s.Source("west").ResourceVersion())
		require.Equal(t, "5", s.Source("east").ResourceVersion())
		require.Nil(t, s.Source("north"))
		require.True(t, isClosed(s.Store().Synced()))
		require.NoError(t, s.Store().WaitFor(t.Context(), ""))
		byNamespace := NewIndex(s.Store(), func(m Sourced[*lw.Object], to []string) []string { return append(to, m.Object.GetNamespace()) })
		require.Equal(t, 1, byNamespace.Len("w"))
	})
}

func TestRelistOfOneSourceKeepsOthers(t *testing.T) {
	withMultiFixture(t, []string{"w/x@1", "w/y@1"}, []string{"e/x@1"}, nil, func(t *testing.T, s *multiFixture) {
		s.west.first = []string{"w/x@1"}
		s.west.expire()
		s.requireState(t, "east:e/x@1", "west:w/x@1")
	})
}

// The merged store contains an object while any source has it, and stores its newest version.
func TestMergedStoreOfOverlappingSelectors(t *testing.T) {
	withMultiFixture(t, []string{"x@1"}, []string{"x@1", "y@1"}, nil, func(t *testing.T, s *multiFixture) {
		send(s.west, lw.Modified, "x@5")
		s.requireState(t, "east:y@1", "west:x@5")
		send(s.east, lw.Modified, "x@3")
		s.requireState(t, "east:y@1", "west:x@5")
		send(s.west, lw.Deleted, "x@6")
		s.requireState(t, "east:x@3", "east:y@1")
		send(s.west, lw.Added, "y@7")
		send(s.east, lw.Deleted, "y@7")
		send(s.east, lw.Deleted, "x@8")
		s.requireState(t, "west:y@7")
	})
}

// If a source deletes an object, the merged store must keep a newer version from another source.
func TestMergedStoreOfThreeSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := map[string]*liveObjects{"a": {first: []string{"x@2"}}, "b": {first: []string{"x@1"}}, "c": {first: []string{"x@1"}}}
		watched := map[string]lw.ListerWatcher[*lw.Object]{}
		for name, source := range sources {
			source.events = make(chan lw.Event[*lw.Object])
			watched[name] = source
		}
		m := NewMergedStore(watched, nil, plainLists())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		synctest.Wait()
		s := &multiFixture{MergedStore: m}
		send(sources["c"], lw.Modified, "x@9")
		s.requireState(t, "c:x@9")
		send(sources["a"], lw.Deleted, "x@10")
		s.requireState(t, "c:x@9")
		send(sources["b"], lw.Modified, "x@9")
		s.requireState(t, "b:x@9")
		cancel()
		<-done
	})
}

func TestMergedStoreSyncsAfterLastSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		source := &script{t: t, lines: []string{"list@1 x@1"}, end: cancel}
		m := NewMergedStore(map[string]lw.ListerWatcher[*lw.Object]{"only": source}, nil, plainLists())
		require.Equal(t, context.Canceled, m.Run(ctx))
		require.True(t, isClosed(m.Store().Synced()))
	})
}

func TestMergedStoreReplacementIsDeterministic(t *testing.T) {
	sources := map[string]lw.ListerWatcher[*lw.Object]{}
	names := strings.Split("abcdefgh", "")
	for _, name := range names {
		sources[name] = &liveObjects{}
	}
	require.Equal(t, names, NewMergedStore(sources, nil, nil).names)
}

// Objects of two clusters are different objects, even if their keys are equal.
func TestMergedStoreOfClusters(t *testing.T) {
	key := func(m Sourced[*lw.Object]) lw.Key {
		return lw.Key{Namespace: m.Source + "/" + m.Object.GetNamespace(), Name: m.Object.GetName()}
	}
	withMultiFixture(t, []string{"a/x@1"}, []string{"a/x@2"}, key, func(t *testing.T, s *multiFixture) {
		s.requireState(t, "east:a/x@2", "west:a/x@1")
		send(s.west, lw.Deleted, "a/x@9")
		s.requireState(t, "east:a/x@2")
		m, ok := s.Store().Get(lw.Key{Namespace: "east/a", Name: "x"})
		require.True(t, ok)
		require.Equal(t, "east", m.Source)
	})
}

func TestMergedStoreStopOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &script{t: t, lines: []string{"list !forbidden"}}
		good := &liveObjects{first: []string{"x@1"}}
		m := NewMergedStore(map[string]lw.ListerWatcher[*lw.Object]{"good": good, "bad": bad}, nil, &lw.Options{NoStreamingList: true, StopOn: lw.IsPermanent})
		require.Equal(t, errs["forbidden"], m.Run(t.Context()))
	})
}

func TestMergedStoreWithoutSources(t *testing.T) {
	errEnough := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		m := NewMergedStore[*lw.Object](nil, nil, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		<-m.Store().Synced()
		synctest.Wait()
		require.Empty(t, done)
		require.PanicsWithValue(t, "cache: MergedStore.Run called before the previous Run returned", func() { _ = m.Run(ctx) })
		cancel(errEnough)
		require.Equal(t, errEnough, <-done)
	})
}

// While a recreated object replaces the old object, readers must always find an object with this key.
func TestMergedStoreReplacesRecreatedObject(t *testing.T) {
	withMultiFixture(t, []string{"w/x@1#1"}, nil, nil, func(t *testing.T, s *multiFixture) {
		synctest.Wait()
		NewIndex(s.Store(), func(m Sourced[*lw.Object], to []string) []string {
			require.Equal(t, 1, s.store.state.length, "while the object at resourceVersion %s is written, the store must contain an object with this key", m.Object.GetResourceVersion())
			return to
		})
		send(s.west, lw.Modified, "w/x@7#2")
		s.requireState(t, "west:w/x@7")
	})
}
