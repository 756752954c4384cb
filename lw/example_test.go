//go:build !js

package lw_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/http"
)

// ListAndWatch yields the existing Pods and then the changes. A client of a real API server also needs a token and the
// server's CA certificate.
func ExampleListAndWatch() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	create := func(name string) {
		if _, err := server.Put("pods", `{"metadata":{"name":"`+name+`"},"status":{"phase":"Pending"}}`); err != nil {
			panic(err)
		}
	}
	create("web-0")

	transport, err := http.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		switch event.Type {
		case lw.Added:
			fmt.Println("added", event.Object.GetName(), event.Object.Get("status.phase"))
			if event.Object.GetName() == "web-1" {
				return
			}
		case lw.WatchStarted:
			fmt.Println("the list is complete and the watch is open")
			create("web-1")
		}
	}
	// Output:
	// added web-0 Pending
	// the list is complete and the watch is open
	// added web-1 Pending
}

// The loop waits until the Pod runs, even if connections break. The context sets a deadline.
func ExampleListAndWatch_until() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"name":"web-0"},"status":{"phase":"Pending"}}`); err != nil {
		panic(err)
	}
	transport, err := http.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	pod := lw.Pods("default")
	pod.Name = "web-0"
	client, err := lw.NewClient(transport, pod, lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for event := range lw.ListAndWatch(ctx, client, nil) {
		if event.Type == lw.WatchStarted { // simulates another client that updates the Pod
			_, err = server.Put("pods", `{"metadata":{"name":"web-0"},"status":{"phase":"Running"}}`)
		}
		if event.Object != nil && event.Object.Get("status.phase").String() == "Running" {
			fmt.Println("web-0 is running", err)
			return
		}
	}
	fmt.Println("web-0 was not running after one minute:", ctx.Err())
	// Output:
	// web-0 is running <nil>
}

// Get decodes a field on demand.
func ExampleObject_Get() {
	object, err := lw.ParseObject([]byte(`{"kind":"Pod","metadata":{"name":"web-0","labels":{"app.kubernetes.io/name":"web"}},
		"spec":{"containers":[{"image":"nginx:1.27","ports":[{"containerPort":8080}]}]}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(object.Get("spec.containers[0].image").String())
	fmt.Println(object.Get("spec.containers[0].ports[0].containerPort").Int())
	fmt.Println(object.Get(`metadata.labels.app\.kubernetes\.io/name`).String())
	fmt.Println(object.Get("spec.nodeName").Exists())
	// Output:
	// nginx:1.27
	// 8080
	// web
	// false
}

// StopOn ends the stream when retrying cannot help.
func ExampleOptions_stopOn() {
	server, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"secret": true}})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	transport, err := http.New(server.URL, &http.Options{Token: "wrong"})
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, &lw.Options{StopOn: lw.IsPermanent}) {
		fmt.Println(event.Type, event.Interruption.Err)
	}
	// Output:
	// INTERRUPTED the server answered 401 Unauthorized: Unauthorized
}
