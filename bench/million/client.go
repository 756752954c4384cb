package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// task is what the client's process does.
type task struct {
	collection
	URL string
}

// result is what came of it.
type result struct {
	Clock, CPU float64 // seconds until the list was complete
	Peak       float64 // the most bytes of memory that the process had
	Heap       float64 // bytes that are in use at the end
}

// list follows the collection until all of it is in the store.
func list(t task) result {
	transport, err := lwhttp.New(t.URL, nil)
	measure.Must(err)
	client, err := lw.NewClient(transport, lw.Pods(""), compact.NewCodec(lw.RawCodec{}, nil), nil)
	measure.Must(err)
	reflector := cache.NewReflector(client, &lw.Options{StopOn: func(error) bool { return true }})
	before, began, cpu := measure.Heap(), time.Now(), measure.ProcessorTime()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- reflector.Run(ctx) }()
	progress(reflector.Store(), t.Pods, ended)
	r := result{Clock: time.Since(began).Seconds(), CPU: (measure.ProcessorTime() - cpu).Seconds()}
	stop()
	<-ended
	r.Peak, r.Heap = measure.PeakRSS(), measure.Heap()-before
	check(reflector.Store(), t)
	runtime.KeepAlive(client) // with the compressor and its dictionaries
	return r
}

// progress tells how far it is, until all is there.
func progress(store *cache.Store[*compact.Object], pods int, ended <-chan error) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-store.Synced():
			return
		case err := <-ended:
			panic(err)
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "%d of %d Pods, %.2f GB\n", store.Len(), pods, measure.PeakRSS()/1e9)
		}
	}
}

// check reads some of the Pods.
func check(store *cache.Store[*compact.Object], t task) {
	if store.Len() != t.Pods {
		panic("Pods are missing")
	}
	source := t.source()
	for i := 0; i < t.Pods; i += max(t.Pods/1000, 1) {
		want := source.Pod(i)
		pod, ok := store.Get(lw.Key{Namespace: want.Namespace, Name: want.Name})
		if !ok || pod.GetUID() != want.UID || pod.Object().Get("spec.nodeName").String() != want.Node {
			panic("it is not the Pod that was sent")
		}
	}
}
