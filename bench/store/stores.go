package main

import (
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/objects"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// store is a store with an index by namespace and one by node.
type store interface {
	put(*objects.Object) // adds or replaces
	remove(*objects.Object)
	get(namespace, name string) *objects.Object // nil if there is none
	countOnNode(node string) int                // objects that the index by node finds
	countAll() int                              // objects in a list of all
}

// snapshotter is a store that has snapshots. The function returns the number of objects that differ from a later snapshot.
type snapshotter interface {
	snapshot() (diff func() int)
}

type listwatchStore struct {
	store  *cache.Store[*objects.Object]
	writer *cache.Writer[*objects.Object]
	byNode *cache.Index[*objects.Object, string]
}

func newListwatch() store {
	s, writer := cache.NewStore[*objects.Object](nil)
	cache.NewIndex(s, func(o *objects.Object, to []string) []string { return append(to, o.Namespace) })
	byNode := cache.NewIndex(s, func(o *objects.Object, to []string) []string { return append(to, o.Node) })
	return &listwatchStore{s, writer, byNode}
}

func (s *listwatchStore) put(o *objects.Object)    { s.writer.Put(o) }
func (s *listwatchStore) remove(o *objects.Object) { s.writer.Delete(lw.KeyOf(o)) }

func (s *listwatchStore) get(namespace, name string) *objects.Object {
	o, _ := s.store.Get(lw.Key{Namespace: namespace, Name: name})
	return o
}

func (s *listwatchStore) countOnNode(node string) int { return len(s.byNode.List(node)) }
func (s *listwatchStore) countAll() int               { return len(s.store.List()) }

func (s *listwatchStore) snapshot() func() int {
	from := s.store.Snapshot()
	return func() int { return len(harness.MustGet(cache.Diff(from, s.store.Snapshot()))) }
}

type clientGoStore struct{ clientgo.Indexer }

func newClientGo() store {
	key := func(o any) (string, error) {
		return o.(*objects.Object).Namespace + "/" + o.(*objects.Object).Name, nil
	}
	return clientGoStore{clientgo.NewIndexer(key, clientgo.Indexers{
		"namespace": func(o any) ([]string, error) { return []string{o.(*objects.Object).Namespace}, nil },
		"node":      func(o any) ([]string, error) { return []string{o.(*objects.Object).Node}, nil },
	})}
}

func (s clientGoStore) put(o *objects.Object)    { harness.Must(s.Update(o)) } // also adds
func (s clientGoStore) remove(o *objects.Object) { harness.Must(s.Delete(o)) }

func (s clientGoStore) get(namespace, name string) *objects.Object {
	o, found, err := s.GetByKey(namespace + "/" + name)
	harness.Must(err)
	if !found {
		return nil
	}
	return o.(*objects.Object)
}

func (s clientGoStore) countOnNode(node string) int {
	return len(harness.MustGet(s.ByIndex("node", node)))
}

func (s clientGoStore) countAll() int { return len(s.List()) }
