//go:build !js

package cache_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// The filter selects Pods on a Node. The handler receives Added when a Pod starts to match, and Deleted when a Pod
// stops matching.
func ExampleHandlerOptions() {
	server, client, end := serve("shop")
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	informer := cache.NewInformer(client, nil)
	calls := make(chan string)
	informer.Handle(cache.Handler[*lw.Object]{
		Added:    func(pod *lw.Object, _ bool) { calls <- "added " + pod.GetName() },
		Modified: func(_, pod *lw.Object) { calls <- "updated " + pod.GetName() },
		Deleted:  func(pod *lw.Object, _ bool) { calls <- "deleted " + pod.GetName() },
	}, &cache.HandlerOptions[*lw.Object]{
		Filter: func(pod *lw.Object) bool { return pod.Get("spec.nodeName").String() == "n1" },
	})
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()

	put(server, "shop", "web-0", "") // does not match the filter
	<-informer.Synced()
	put(server, "shop", "web-0", "n1")
	fmt.Println(<-calls)
	put(server, "shop", "web-0", "n2")
	fmt.Println(<-calls)
	stop()
	<-done
	// Output:
	// added web-0
	// deleted web-0
}

// Changes delivers the changes to a loop in the caller's goroutine.
func ExampleInformer_Changes() {
	server, client, end := serve("shop")
	defer end()
	put(server, "shop", "web-0", "n1")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	informer := cache.NewInformer(client, nil)
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()
	for change := range informer.Changes(ctx, nil) {
		switch change.Type {
		case lw.Added:
			fmt.Println("added", change.New.GetName(), "existed before:", change.Initial)
			put(server, "shop", "web-0", "n2")
		case lw.Modified:
			fmt.Println("moved from", change.Old.Get("spec.nodeName"), "to", change.New.Get("spec.nodeName"))
			stop()
		}
	}
	<-done
	// Output:
	// added web-0 existed before: true
	// moved from n1 to n2
}

// A Registration observes and removes a handler that was added to an informer.
func ExampleRegistration() {
	server, client, end := serve("shop")
	defer end()
	put(server, "shop", "web-0", "n1")
	ctx, stop := context.WithCancel(context.Background())
	informer := cache.NewInformer(client, nil)
	handler := informer.Handle(cache.Handler[*lw.Object]{
		Added: func(pod *lw.Object, _ bool) { fmt.Println("added", pod.GetName()) },
	}, nil)
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()
	<-handler.Synced() // the handler has received the initial objects
	fmt.Println("waiting:", handler.Len())

	handler.Remove()
	<-handler.Done() // no call of the handler is in progress
	version := put(server, "shop", "web-1", "n1")
	if err := informer.Store().WaitFor(ctx, version); err != nil {
		panic(err)
	}
	stop()
	<-done
	// Output:
	// added web-0
	// waiting: 0
}
