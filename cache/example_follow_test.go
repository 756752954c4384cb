//go:build !js

package cache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// A client that has written an object waits until the store contains it.
func ExampleStore_WaitFor() {
	server, client, end := serve("shop")
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	pods := cache.NewInformer(client, nil)
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()

	version := put(server, "shop", "web-0", "n1")
	if err := pods.Store().WaitFor(ctx, version); err != nil {
		panic(err)
	}
	pod, ok := pods.Store().Get(lw.Key{Namespace: "shop", Name: "web-0"})
	fmt.Println(pod.Get("spec.nodeName"), ok)
	stop()
	fmt.Println(<-done)
	// Output:
	// n1 true
	// context canceled
}

// A process saves its store. The next process resumes from the saved resourceVersion.
func ExampleSave() {
	server, client, end := serve("shop")
	defer end()
	put(server, "shop", "web-0", "n1")
	origin := server.URL + " shop/pods"
	var saved bytes.Buffer

	first := cache.NewInformer(client, nil)
	for event := range first.Follow(context.Background()) {
		if event.Type == lw.Synced {
			break
		}
	}
	if err := cache.Save(&saved, first.Store().Snapshot(), origin, (*lw.Object).Raw); err != nil {
		panic(err)
	}
	put(server, "shop", "web-1", "n1") // a write while no process is running

	second := cache.NewInformer(client, nil)
	if err := second.Restore(&saved, origin, lw.ParseObject); err != nil {
		panic(err)
	}
	for event, changes := range second.Follow(context.Background()) {
		for _, change := range changes {
			fmt.Printf("%v %s, event %v, resourceVersion %q\n", change.Type, change.New.GetName(), event.Type, event.ResourceVersion)
		}
		if second.Store().Len() == 2 {
			break
		}
	}
	// Output:
	// ADDED web-0, event ADDED, resourceVersion ""
	// ADDED web-1, event ADDED, resourceVersion "3"
}

// If the saved data is damaged, Restore returns an error, and the run starts with a list.
func ExampleInformer_Restore_corrupt() {
	_, client, end := serve("shop")
	defer end()
	pods := cache.NewInformer(client, nil)
	err := pods.Restore(bytes.NewReader(make([]byte, 100)), "shop/pods", lw.ParseObject)
	fmt.Println(errors.Is(err, cache.ErrCorrupt))
	fmt.Println(err)
	// Output:
	// true
	// cache: cannot use the saved state: it is damaged: not a saved state
}

// LimitObjects stops a run whose collection is larger than expected.
func ExampleInformer_LimitObjects() {
	server, pods, end := serve("shop")
	defer end()
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		put(server, "shop", name, "n1")
	}
	informer := cache.NewInformer(pods, nil)
	informer.LimitObjects(2)
	err := informer.Run(context.Background())
	fmt.Println(errors.Is(err, lw.ErrTooManyObjects))
	fmt.Println(err)
	// Output:
	// true
	// the collection has more than 2 objects: raise the limit in LimitObjects if this is expected
}
