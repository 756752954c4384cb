// Package operations is the work on a store that main does natively, and program as WebAssembly.
package operations

import (
	"math/rand/v2"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

const nodes = 100

// object is what is stored: a key, and what the index looks at.
type object struct{ namespace, name, node, version string }

func (o *object) GetNamespace() string       { return o.namespace }
func (o *object) GetName() string            { return o.name }
func (o *object) GetResourceVersion() string { return o.version }

// Objects is how many are in the store, and how often each kind of work is done.
const Objects = 10_000

// Run does each kind of work [Objects] times, on a store with an index by node. timed calls do. page/operations.mjs does the
// same with Maps.
func Run(timed func(work string, do func())) {
	const n = Objects
	objects, versions := newObjects(n, 0), newObjects(n, 0)
	moved := newObjects(n, 1)
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	store, writer := cache.NewStore[*object](nil)
	byNode := cache.NewIndex(store, func(o *object, to []string) []string { return append(to, o.node) })
	writer.Put(objects...)
	timed("get", func() {
		for _, i := range order {
			if o, _ := store.Get(lw.Key{Namespace: objects[i].namespace, Name: objects[i].name}); o == nil {
				panic("an object is missing")
			}
		}
	})
	timed("index lookup, per object found", func() {
		for i := range nodes {
			if len(byNode.List(node(i))) != n/nodes {
				panic("an index lacks objects")
			}
		}
	})
	put := func(objects []*object) func() {
		return func() {
			for _, i := range order {
				writer.Put(objects[i])
			}
		}
	}
	timed("update", put(versions))
	timed("update that changes an index", put(moved))
}

// newObjects returns objects of versions of their own; those of another shift are on other nodes.
func newObjects(n, shift int) []*object {
	objects := make([]*object, n)
	for i := range objects {
		version++
		objects[i] = &object{
			namespace: "namespace-" + strconv.Itoa(i%1000), name: "some-workload-5d8f9c7b6d-" + strconv.Itoa(i),
			node: node((i + shift) % nodes), version: strconv.Itoa(version),
		}
	}
	return objects
}

var version int

func node(i int) string { return "node-" + strconv.Itoa(i) }
