package main

import (
	"strconv"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// store contains the operations of a store that has an index by namespace and an index by node.
type store struct {
	put, remove func(*object) // put adds or replaces an object
	get         func(namespace, name string) any
	countOnNode func(node string) int // looks up the objects in the index and counts them
	countAll    func() int            // lists all objects and counts them
	snapshot    func()                // nil if the store does not support snapshots
}

func newListwatch() store {
	s, writer := cache.NewStore(nil, lw.Identity[*object]{})
	cache.NewIndex(s, func(o *object, to []string) []string { return append(to, o.Namespace) })
	byNode := cache.NewIndex(s, func(o *object, to []string) []string { return append(to, o.Node) })
	return store{
		put:    func(o *object) { writer.Put(o) },
		remove: func(o *object) { writer.Delete(lw.KeyOf(o)) },
		get: func(namespace, name string) any {
			o, _ := s.Get(lw.Key{Namespace: namespace, Name: name})
			return o
		},
		countOnNode: func(node string) int { return len(byNode.List(node)) },
		countAll:    func() int { return len(s.List()) },
		snapshot:    func() { s.Snapshot() },
	}
}

func newClientGo() store {
	key := func(o any) (string, error) { return o.(*object).Namespace + "/" + o.(*object).Name, nil }
	s := clientgo.NewIndexer(key, clientgo.Indexers{
		"namespace": func(o any) ([]string, error) { return []string{o.(*object).Namespace}, nil },
		"node":      func(o any) ([]string, error) { return []string{o.(*object).Node}, nil },
	})
	return store{
		put:    func(o *object) { harness.Must(s.Update(o)) }, // Update also adds objects
		remove: func(o *object) { harness.Must(s.Delete(o)) },
		get: func(namespace, name string) any {
			o, _, err := s.GetByKey(namespace + "/" + name)
			harness.Must(err)
			return o
		},
		countOnNode: func(node string) int { return len(harness.MustGet(s.ByIndex("node", node))) },
		countAll:    func() int { return len(s.List()) },
	}
}

// object is an lw.Keyed that also has a node.
type object struct{ Namespace, Name, Node, Version string }

// GetNamespace, GetName and GetResourceVersion implement lw.Keyed.
func (o *object) GetNamespace() string       { return o.Namespace }
func (o *object) GetName() string            { return o.Name }
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
