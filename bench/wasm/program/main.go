//go:build js

// Command program is one side of what is compared: the client and the store as a program of one's own would use them. The
// streams come over fetch, as in the package.
package main

import (
	"context"
	"runtime"

	"github.com/seed-6d2a410a/listwatch/bench/wasm/operations"
	"github.com/seed-6d2a410a/listwatch/bench/wasm/world"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// The courses, by their places in page/world.mjs.
var courses = []func(client *lw.Client[*lw.Object]){decode, store, list, hold, operate}

func main() {
	client, err := lw.NewClient(world.Transport(), lw.Pods(""), lw.RawCodec{}, nil)
	world.Must(err)
	courses[world.Course()](client)
}

var last *lw.Object // as if somebody wanted it

// decode makes objects of the events, and keeps none.
func decode(client *lw.Client[*lw.Object]) {
	for range world.Passes() {
		world.Began()
		for event, err := range client.Watch(context.Background(), lw.WatchOptions{}) {
			world.Must(err)
			last = event.Object
		}
		world.Ended("decode")
	}
}

func newStore() (*cache.Store[*lw.Object], *cache.Writer[*lw.Object]) {
	store, writer := cache.NewStore[*lw.Object](nil)
	cache.NewIndex(store, cache.ByField("spec.nodeName"))
	return store, writer
}

// store folds the events into a store. From the second pass on it holds each object in another version.
func store(client *lw.Client[*lw.Object]) {
	store, writer := newStore()
	for range world.Passes() {
		world.Began()
		for event, err := range client.Watch(context.Background(), lw.WatchOptions{}) {
			world.Must(err)
			writer.Fold(event)
		}
		world.Ended("store")
	}
	world.Tell("objects", float64(store.Len()))
}

// list folds a list into a store that is empty.
func list(client *lw.Client[*lw.Object]) {
	for range world.Passes() {
		store, writer := newStore()
		world.Began()
		fold(client, writer)
		world.Ended("list")
		world.Tell("objects", float64(store.Len()))
	}
}

func fold(client *lw.Client[*lw.Object], writer *cache.Writer[*lw.Object]) {
	var meta lw.ListMeta
	writer.Fold(lw.Event[*lw.Object]{Type: lw.Reset})
	for object, err := range client.List(context.Background(), lw.ListOptions{}, &meta) {
		world.Must(err)
		writer.Fold(lw.Event[*lw.Object]{Type: lw.Added, Object: object})
	}
	writer.Fold(lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: meta.ResourceVersion})
}

// hold tells what is in use of the heap while a store holds a list, which was read as often as it says.
func hold(client *lw.Client[*lw.Object]) {
	store, writer := newStore()
	before := inUse()
	for range world.Passes() {
		fold(client, writer)
	}
	world.Tell("in use", inUse()-before)
	world.Tell("objects", float64(store.Len()))
}

func inUse() float64 {
	var stats runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func operate(*lw.Client[*lw.Object]) {
	for range world.Passes() {
		operations.Run(func(work string, do func()) {
			world.Began()
			do()
			world.Ended(work)
		})
	}
}
