//go:build !js

// Excluded from GOOS=js, because the embedded server needs sockets.

package cache_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// An Informer follows the Pods of a namespace and yields each event with its changes.
func ExampleInformer_Follow() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	put := func(name, phase string) {
		pod := `{"metadata":{"namespace":"shop","name":"` + name + `"},"status":{"phase":"` + phase + `"}}`
		if _, err := server.Put("pods", pod); err != nil {
			panic(err)
		}
	}
	put("web-0", "Pending")

	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods("shop"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	pods := cache.NewInformer(client, nil)
	for event, changes := range pods.Follow(context.Background()) {
		for _, change := range changes {
			switch change.Type {
			case lw.Added:
				fmt.Println("new:", lw.KeyOf(change.New), change.New.Get("status.phase"))
			case lw.Modified:
				fmt.Println("now:", lw.KeyOf(change.New), change.New.Get("status.phase"), "before:", change.Old.Get("status.phase"))
			case lw.Deleted:
				fmt.Println("gone:", lw.KeyOf(change.Old))
			}
		}
		if event.Type == lw.WatchStarted { // the list is complete and the watch is open, so change some Pods
			put("web-0", "Running")
			put("web-1", "Pending")
			if err := server.Delete("pods", "shop", "web-1"); err != nil {
				panic(err)
			}
		}
		if event.Type == lw.Deleted {
			break
		}
	}
	fmt.Println("stored:", pods.Store().Len())
	// Output:
	// new: shop/web-0 Pending
	// now: shop/web-0 Running before: Pending
	// new: shop/web-1 Pending
	// gone: shop/web-1
	// stored: 1
}

// Handlers share one stream and one store. A handler first receives the stored objects, and then the changes.
func ExampleInformer() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"namespace":"shop","name":"web-0"},"spec":{"nodeName":"n1"}}`); err != nil {
		panic(err)
	}
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	informer := cache.NewInformer(client, nil)
	informer.Handle(cache.Handler[*lw.Object]{
		Added: func(pod *lw.Object, initial bool) {
			fmt.Println("added", pod.GetName(), "existed before:", initial)
			if !initial {
				cancel()
			}
		},
	}, &cache.HandlerOptions[*lw.Object]{
		Filter: func(pod *lw.Object) bool { return pod.Get("spec.nodeName").String() == "n1" },
	})
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()
	<-informer.Synced()
	for _, pod := range []string{`{"metadata":{"namespace":"shop","name":"web-1"}}`, `{"metadata":{"namespace":"shop","name":"web-2"},"spec":{"nodeName":"n1"}}`} {
		if _, err := server.Put("pods", pod); err != nil {
			panic(err)
		}
	}
	fmt.Println(<-done)
	// Output:
	// added web-0 existed before: true
	// added web-2 existed before: false
	// context canceled
}
