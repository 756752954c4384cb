//go:build !js

package cache_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/workqueue"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// This controller has two informers and two workers. With leader election, pass Run a context that is canceled when the
// lease is lost.
func ExampleGroup() {
	server, client, end := serve("shop")
	defer end()
	put(server, "shop", "web-0", "n1")
	queue := workqueue.New[lw.Key]()
	web := cache.NewInformer(client, &lw.Options{LabelSelector: "app!=db", StopOn: lw.IsPermanent})
	web.Handle(cache.Handler[*lw.Object]{Added: func(pod *lw.Object, _ bool) { queue.Add(lw.KeyOf(pod)) }}, nil)
	all := cache.NewInformer(client, &lw.Options{StopOn: lw.IsPermanent})

	var group cache.Group
	group.Add("web Pods", web)
	group.Add("all Pods", all)
	ctx, loseLease := context.WithCancel(context.Background())
	work := func(ctx context.Context) error {
		for key := range queue.Keys(ctx) {
			fmt.Printf("reconciling %v, cached Pods: %d\n", key, all.Store().Len())
			loseLease()
		}
		return nil
	}
	fmt.Println(group.Run(ctx, work, work)) // when Run returns, no handler or worker is running
	// Output:
	// reconciling shop/web-0, cached Pods: 1
	// context canceled
}

// WaitSynced blocks until all caches are synced, for example before a health endpoint reports readiness.
func ExampleGroup_WaitSynced() {
	server, client, end := serve("shop")
	defer end()
	put(server, "shop", "web-0", "n1")
	var group cache.Group
	pods := cache.NewInformer(client, nil)
	group.Add("Pods", pods)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- group.Run(ctx) }()
	fmt.Println(group.WaitSynced(ctx), pods.Store().Len())
	stop()
	fmt.Println(<-done)
	// Output:
	// <nil> 1
	// context canceled
}
