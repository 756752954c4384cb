// Command listwatch syncs listwatch's informer for bench/list, which starts it as a worker. In one program for
// all informers, client-go's schemes and protobuf tables would count as memory of listwatch, too.
package main

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	harness.Work(
		harness.Worker("raw", func(url string) harness.Figures { return read(url, lw.RawCodec{}) }),
		harness.Worker("compact", func(url string) harness.Figures { return read(url, compact.NewCodec(lw.RawCodec{})) }),
	)
}

// read measures an informer from its creation until it has synced.
func read[T lw.Keyed](url string, codec lw.Codec[T]) harness.Figures {
	began := harness.CPUTime()
	client := harness.MustGet(lw.NewClient(harness.MustGet(lwhttp.New(url, nil)), lw.Pods(""), codec, nil))
	informer := cache.NewInformer(client, nil)
	go func() { harness.Must(informer.Run(context.Background())) }()
	harness.Must(informer.WaitSynced(context.Background()))
	cpu, peak := harness.CPUTime()-began, harness.PeakRSS()
	return harness.Figures{"CPU time": cpu.Seconds(), "peak RSS": peak / 1e6, "objects": float64(informer.Store().Len())}
}
