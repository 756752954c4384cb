package cache_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// crowded is the code under test. It waits for the first list and reports whether a Node has more than one Pod.
func crowded(ctx context.Context, pods *cache.Store[*lw.Object], byNode *cache.Index[*lw.Object, string], node string) bool {
	select {
	case <-pods.Synced():
	case <-ctx.Done():
	}
	return len(byNode.List(node)) > 1
}

// A test can use NewStore instead of an informer's store, and fill it through the writer. Replace acts like a list: it
// closes Synced and sets the resourceVersion. Put and Delete act like watch events. Indexes and snapshots work as
// usual.
func ExampleNewStore_fake() {
	ctx := context.Background()
	pods, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	byNode := cache.NewIndex(pods, cache.ByField("spec.nodeName"))

	writer.Replace("7", onNode("web-0", "n1"))
	fmt.Println(crowded(ctx, pods, byNode, "n1"))

	writer.Put(onNode("web-1", "n1"))
	fmt.Println(crowded(ctx, pods, byNode, "n1"))

	writer.Delete(lw.Key{Namespace: "shop", Name: "web-0"})
	fmt.Println(crowded(ctx, pods, byNode, "n1"))

	writer.Replace("8", onNode("web-1", "n1"), onNode("web-2", "n1"))
	fmt.Println(pods.WaitFor(ctx, "8"), crowded(ctx, pods, byNode, "n1"))

	_, found := pods.Get(lw.Key{Namespace: "shop", Name: "web-2"})
	fmt.Println(found)
	// Output:
	// false
	// true
	// false
	// <nil> true
	// true
}
