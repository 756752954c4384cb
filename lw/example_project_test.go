//go:build !js

package lw_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/http"
)

// A projection keeps only the fields that the program needs, to save memory.
func ExampleProject() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"name":"web-0","labels":{"app":"web"},"annotations":{"long":"…"}},
		"spec":{"nodeName":"n1","containers":[{"name":"main","image":"nginx:1.27"},{"name":"proxy","image":"envoy:1.31"}]}}`); err != nil {
		panic(err)
	}
	transport, err := http.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	fields, err := lw.Project("metadata.labels", "spec.nodeName", "spec.containers[*].image")
	if err != nil {
		panic(err)
	}
	client, err := lw.NewClient(transport, lw.Pods("default"), fields, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		if event.Type == lw.Added {
			fmt.Println(event.Object.Get("metadata.labels"))
			fmt.Println(event.Object.Get("spec"))
			fmt.Println(event.Object.Get("spec.containers[1].image").String())
			return
		}
	}
	// Output:
	// {"app":"web"}
	// {"containers":[{"image":"nginx:1.27"},{"image":"envoy:1.31"}],"nodeName":"n1"}
	// envoy:1.31
}

// Omit drops fields that a program never reads, to save memory.
func ExampleOmit() {
	codec, err := lw.Omit("metadata.annotations", "status", "spec.containers[*].env")
	if err != nil {
		panic(err)
	}
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"name":"web-0","annotations":{"long":"…"}},
		"spec":{"containers":[{"name":"main","env":[{"name":"LONG","value":"…"}]}]},"status":{"phase":"Running"}}`); err != nil {
		panic(err)
	}
	transport, err := http.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods("default"), codec, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		if event.Type == lw.Added {
			fmt.Println(event.Object.Get("spec"), event.Object.Get("status").Exists(), event.Object.Get("metadata.annotations").Exists())
			return
		}
	}
	// Output:
	// {"containers":[{"name":"main"}]} false false
}
