//go:build !js

// Excluded from GOOS=js, because the embedded server needs sockets.

package compact_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// This example stores compressed Pods and indexes them by one field.
func ExampleCodec() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	put := func(name, node string) {
		pod := `{"metadata":{"namespace":"shop","name":"` + name + `"},"spec":{"nodeName":"` + node + `"}}`
		if _, err := server.Put("pods", pod); err != nil {
			panic(err)
		}
	}
	for i := range 100 {
		put(fmt.Sprint("web-", i), fmt.Sprint("node-", i%10))
	}
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()

	client, err := lw.NewClient(transport, lw.Pods("shop"), compact.NewCodec(lw.RawCodec{}), nil)
	if err != nil {
		panic(err)
	}
	pods := cache.NewInformer(client, nil)
	byNode := cache.NewIndex(pods.Store(), func(pod *compact.Object, keys []string) []string {
		return append(keys, pod.Object().Get("spec.nodeName").String())
	})
	for event := range pods.Follow(context.Background()) {
		if event.Type == lw.WatchStarted { // the list is complete and the watch is open, so change a Pod
			fmt.Println("Pods on node-3:", len(byNode.List("node-3")))
			put("web-3", "node-4")
		}
		if event.Type == lw.Modified {
			break
		}
	}
	pod, _ := pods.Store().Get(lw.Key{Namespace: "shop", Name: "web-3"})
	fmt.Println(lw.KeyOf(pod), "is on", pod.Object().Get("spec.nodeName"))
	fmt.Println("Pods on node-3:", len(byNode.List("node-3")))
	// Output:
	// Pods on node-3: 10
	// shop/web-3 is on node-4
	// Pods on node-3: 9
}
