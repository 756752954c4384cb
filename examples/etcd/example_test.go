package etcd_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/examples/etcd"
)

// The changes below a prefix, of an etcd on this machine. The store holds all that is there at any time.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	keys := cache.NewReflector(&etcd.Keys{URL: "http://127.0.0.1:2379", Prefix: "/services/"}, nil)
	for event, deltas := range keys.Deltas(ctx) {
		if event.Break != nil {
			fmt.Println(event.Break.Err)
		}
		for _, delta := range deltas {
			entry := delta.New
			if delta.Type == cache.Deleted {
				entry = delta.Old
			}
			fmt.Printf("%v %s = %s\n", delta.Type, entry.Key, entry.Value)
		}
	}
}
