package cache_test

import (
	"fmt"
	"slices"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

func onNode(name, node string) *lw.Object {
	pod, err := lw.ParseObject([]byte(`{"metadata":{"namespace":"shop","name":"` + name + `","resourceVersion":"7","labels":{"app":"web"}},"spec":{"nodeName":"` + node + `"}}`))
	if err != nil {
		panic(err)
	}
	return pod
}

// An index finds objects by a field, at a cost proportional to the number of results. It can be created at any time.
func ExampleIndex() {
	pods, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	writer.Put(onNode("web-0", "n1"), onNode("web-1", "n2"), onNode("web-2", "n1"))
	byNode := cache.NewIndex(pods, cache.ByField("spec.nodeName"))
	byApp := cache.NewIndex(pods, cache.ByField("metadata.labels.app"))

	var names []string
	for _, pod := range byNode.List("n1") {
		names = append(names, pod.GetName())
	}
	slices.Sort(names) // List returns the objects in no particular order
	fmt.Println(names, len(byNode.List("n2")), len(byApp.List("web")), len(byNode.Keys()))

	writer.Put(onNode("web-2", "n2"))
	fmt.Println(len(byNode.List("n1")), len(byNode.List("n2")))
	// Output:
	// [web-0 web-2] 1 3 2
	// 1 2
}

// A snapshot is an immutable copy of a store and its indexes.
func ExampleSnapshot() {
	pods, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	byNode := cache.NewIndex(pods, cache.ByField("spec.nodeName"))
	writer.Put(onNode("web-0", "n1"), onNode("web-1", "n1"))
	before := pods.Snapshot()
	writer.Put(onNode("web-1", "n2"))
	writer.Delete(lw.Key{Namespace: "shop", Name: "web-0"})

	fmt.Printf("Pods before: %d in total, %d on n1\n", before.Len(), len(byNode.In(before).List("n1")))
	fmt.Printf("Pods now: %d in total, %d on n1\n", pods.Len(), len(byNode.List("n1")))
	// Output:
	// Pods before: 2 in total, 2 on n1
	// Pods now: 1 in total, 0 on n1
}

// A writer changes a store and returns the changes. Readers see all changes of one call at once.
func ExampleWriter() {
	pods, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	report := func(changes []cache.Change[*lw.Object]) {
		for _, change := range changes {
			fmt.Print(change.Type, " ")
		}
		fmt.Println("→", pods.Len())
	}
	report(writer.Put(onNode("web-0", "n1"), onNode("web-1", "n1")))
	report(writer.Put(onNode("web-0", "n1"))) // equals the stored object, so it is not a change
	report(writer.Replace("9", onNode("web-0", "n2")))
	fmt.Println(pods.ResourceVersion())
	// Output:
	// ADDED ADDED → 2
	// → 2
	// MODIFIED DELETED → 1
	// 9
}

// An index by namespace lists the objects of one namespace.
func ExampleByNamespace() {
	pods, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	writer.Put(onNode("web-0", "n1"), onNode("web-1", "n2"))
	byNamespace := cache.NewIndex(pods, cache.ByNamespace[*lw.Object])
	pod, ok := pods.Get(lw.Key{Namespace: "shop", Name: "web-1"})
	fmt.Println(lw.KeyOf(pod), ok, len(byNamespace.List("shop")), len(byNamespace.List("nowhere")))
	// Output: shop/web-1 true 2 0
}
