// Package operations runs the store operations that bench/wasm measures.
package operations

import (
	"math/rand/v2"

	"github.com/seed-6d2a410a/listwatch/bench/internal/objects"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Objects is the number of objects in the store, and the number of repetitions of each operation.
const Objects = 10_000

// Run calls timed(operation, do) for each operation. The function timed must call do, which repeats the operation
// [Objects] times on a store with an index by node. The module page/operations.mjs contains the same operations in
// plain JavaScript.
func Run(timed func(operation string, do func())) {
	first, second, moved := objects.New(Objects, 0, 0), objects.New(Objects, 0, Objects), objects.New(Objects, 1, 2*Objects)
	order := rand.New(rand.NewPCG(1, 2)).Perm(Objects)
	store, writer := cache.NewStore(nil, lw.Identity[*objects.Object]{})
	byNode := cache.NewIndex(store, func(o *objects.Object, to []string) []string { return append(to, o.Node) })
	writer.Put(first...)
	timed("get", func() {
		for _, i := range order {
			if o, _ := store.Get(lw.Key{Namespace: first[i].Namespace, Name: first[i].Name}); o == nil {
				panic("an object is missing")
			}
		}
	})
	timed("index lookup, per object found", func() {
		for i := range objects.Nodes {
			if len(byNode.List(objects.Node(i))) != Objects/objects.Nodes {
				panic("the index does not contain all objects")
			}
		}
	})
	put := func(all []*objects.Object) func() {
		return func() {
			for _, i := range order {
				writer.Put(all[i])
			}
		}
	}
	timed("update", put(second))
	timed("update that changes an index", put(moved))
}
