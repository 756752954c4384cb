package main

import (
	"strconv"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// store is the interface that the compared stores implement. Each store has an index by namespace and an index by
// node.
type store interface {
	put(*object) // adds or replaces an object
	remove(*object)
	get(namespace, name string) *object // nil if the object does not exist
	countOnNode(node string) int        // looks up the objects in the index and counts them
	countAll() int                      // lists all objects and counts them
	snapshot() bool                     // takes a snapshot; returns false if the store does not support snapshots
}

type listwatchStore struct {
	store  *cache.Store[*object]
	writer *cache.Writer[*object]
	byNode *cache.Index[*object, string]
}

func newListwatch() store {
	s, writer := cache.NewStore(nil, lw.Identity[*object]{})
	cache.NewIndex(s, func(o *object, to []string) []string { return append(to, o.Namespace) })
	byNode := cache.NewIndex(s, func(o *object, to []string) []string { return append(to, o.Node) })
	return &listwatchStore{s, writer, byNode}
}

func (s *listwatchStore) put(o *object)    { s.writer.Put(o) }
func (s *listwatchStore) remove(o *object) { s.writer.Delete(lw.KeyOf(o)) }

func (s *listwatchStore) get(namespace, name string) *object {
	o, _ := s.store.Get(lw.Key{Namespace: namespace, Name: name})
	return o
}

func (s *listwatchStore) countOnNode(node string) int { return len(s.byNode.List(node)) }
func (s *listwatchStore) countAll() int               { return len(s.store.List()) }

func (s *listwatchStore) snapshot() bool {
	s.store.Snapshot()
	return true
}

type clientGoStore struct{ clientgo.Indexer }

func newClientGo() store {
	key := func(o any) (string, error) {
		return o.(*object).Namespace + "/" + o.(*object).Name, nil
	}
	return clientGoStore{clientgo.NewIndexer(key, clientgo.Indexers{
		"namespace": func(o any) ([]string, error) { return []string{o.(*object).Namespace}, nil },
		"node":      func(o any) ([]string, error) { return []string{o.(*object).Node}, nil },
	})}
}

func (s clientGoStore) put(o *object)    { harness.Must(s.Update(o)) } // Update also adds objects
func (s clientGoStore) remove(o *object) { harness.Must(s.Delete(o)) }

func (s clientGoStore) get(namespace, name string) *object {
	o, found, err := s.GetByKey(namespace + "/" + name)
	harness.Must(err)
	if !found {
		return nil
	}
	return o.(*object)
}

func (s clientGoStore) countOnNode(node string) int {
	return len(harness.MustGet(s.ByIndex("node", node)))
}

func (s clientGoStore) countAll() int { return len(s.List()) }

func (s clientGoStore) snapshot() bool { return false }

// object is an lw.Keyed that also has a node.
type object struct{ Namespace, Name, Node, Version string }

// GetNamespace implements lw.Keyed.
func (o *object) GetNamespace() string { return o.Namespace }

// GetName implements lw.Keyed.
func (o *object) GetName() string { return o.Name }

// GetResourceVersion implements lw.Keyed.
func (o *object) GetResourceVersion() string { return o.Version }

// node returns the name of node i.
func node(i int) string { return "node-" + strconv.Itoa(i) }

// newObjects returns n objects that are spread over 1,000 namespaces.
func newObjects(n int) []*object {
	all := make([]*object, n)
	for i := range all {
		all[i] = &object{"namespace-" + strconv.Itoa(i%1000), "some-workload-5d8f9c7b6d-" + strconv.Itoa(i), node(i % nodes), strconv.Itoa(i)}
	}
	return all
}
