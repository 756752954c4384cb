//go:build js

// Command program is the WASM module that the benchmark measures. It uses the Go API of the client and the store,
// and sends its requests with fetch.
package main

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// courses contains the workloads in the same order as COURSES in page/world.mjs.
var courses = []func(client *lw.Client[*lw.Object]){decode, list}

func main() {
	transport, err := lwhttp.New("http://server", nil) // page/world.mjs replaces fetch
	must(err)
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	must(err)
	courses[course()](client)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

var last *lw.Object // keeps the compiler from removing the decoding

// decode decodes events without storing the objects.
func decode(client *lw.Client[*lw.Object]) {
	for range passes() {
		began()
		for event, err := range client.Watch(context.Background(), lw.ListOptions{}) {
			must(err)
			last = event.Object
		}
		ended()
	}
}

// list decodes a list and adds its objects to a new store with an index by node, like page/plain.mjs.
func list(client *lw.Client[*lw.Object]) {
	for range passes() {
		store, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
		cache.NewIndex(store, cache.ByField("spec.nodeName"))
		began()
		for object, err := range client.List(context.Background(), lw.ListOptions{}).Objects {
			must(err)
			writer.Put(object)
		}
		ended()
	}
}

// course returns the workload that the benchmark chose, as an index into COURSES in page/world.mjs.
//
//go:wasmimport bench course
func course() int32

// passes returns the number of times that the workload must run.
//
//go:wasmimport bench passes
func passes() int32

// began starts the stopwatch in page/world.mjs.
//
//go:wasmimport bench began
func began()

// ended stops the stopwatch and records how long the pass took.
//
//go:wasmimport bench ended
func ended()
