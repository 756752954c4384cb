// Command listwatch syncs an informer of listwatch for bench/list.
package main

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/list/internal/task"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	task.Main(map[string]func(context.Context, string) task.Held{"": read})
}

func read(ctx context.Context, url string) task.Held {
	transport := harness.MustGet(lwhttp.New(url, nil))
	client := harness.MustGet(lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil))
	informer := cache.NewInformer(client, nil)
	go func() { _ = informer.Run(ctx) }() // returns only when ctx is done
	select {
	case <-informer.Synced():
	case <-ctx.Done():
	}
	return task.Held{N: informer.Store().Len(), By: informer}
}
