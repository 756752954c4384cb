package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// task is the task of the client's process.
type task struct {
	collection
	URL string
}

// result is the cost of the list, in seconds and bytes.
type result struct {
	Wall, CPU  float64
	Peak, Heap float64 // RSS, and live heap after the list
}

// list runs a reflector until its store holds all Pods.
func list(t task) result {
	transport := harness.MustGet(lwhttp.New(t.URL, nil))
	client := harness.MustGet(lw.NewClient(transport, lw.Pods(""), compact.NewCodec(lw.RawCodec{}, nil), nil))
	reflector := cache.NewReflector(client, &lw.Options{StopOn: func(error) bool { return true }})
	before, began, cpu := harness.Heap(), time.Now(), harness.CPUTime()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- reflector.Run(ctx) }()
	waitForSync(reflector.Store(), t.Pods, ended)
	r := result{Wall: time.Since(began).Seconds(), CPU: (harness.CPUTime() - cpu).Seconds()}
	stop()
	<-ended
	r.Peak, r.Heap = harness.PeakRSS(), harness.Heap()-before
	if reflector.Store().Len() != t.Pods {
		panic("Pods are missing")
	}
	runtime.KeepAlive(client) // with the compressor and its dictionaries
	return r
}

// waitForSync prints the progress until the list is complete.
func waitForSync(store *cache.Store[*compact.Object], pods int, ended <-chan error) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-store.Synced():
			return
		case err := <-ended:
			panic(err)
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "%d of %d Pods, %.2f GB\n", store.Len(), pods, harness.PeakRSS()/1e9)
		}
	}
}
