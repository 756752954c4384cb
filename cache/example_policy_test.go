//go:build !js

package cache_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// By default, a slow handler receives one merged change instead of many.
func ExamplePolicy() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	put := func(restarts int) (version string) {
		pod, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"name":"web-0"},"status":{"restarts":%d}}`, restarts))
		if err != nil {
			panic(err)
		}
		return pod.GetResourceVersion()
	}
	put(0)

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
	informer := cache.NewInformer(client, nil)
	busy, goOn := make(chan bool), make(chan bool)
	handler := informer.Handle(cache.Handler[*lw.Object]{
		Added: func(*lw.Object, bool) {
			busy <- true
			<-goOn
		},
		Modified: func(old, pod *lw.Object) {
			fmt.Println("restarts:", old.Get("status.restarts"), "before,", pod.Get("status.restarts"), "now")
			cancel()
		},
	}, &cache.HandlerOptions[*lw.Object]{Policy: cache.Coalesce}) // Coalesce is the default
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()

	<-busy
	var version string
	for n := 1; n <= 10; n++ {
		version = put(n)
	}
	if err := informer.Store().WaitFor(ctx, version); err != nil {
		panic(err)
	}
	fmt.Println("waiting:", handler.Len())
	goOn <- true
	fmt.Println(<-done)
	// Output:
	// waiting: 1
	// restarts: 0 before, 10 now
	// context canceled
}
