package etcd_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/examples/etcd"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// This example prints the changes of all keys with a prefix. The store contains the current keys and values.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	keys := cache.NewInformer(&etcd.Keys{URL: "http://127.0.0.1:2379", Prefix: "/services/"}, nil)
	for event, changes := range keys.Follow(ctx) {
		if event.Interruption != nil {
			fmt.Println(event.Interruption.Err)
		}
		for _, change := range changes {
			entry := change.New
			if change.Type == lw.Deleted {
				entry = change.Old
			}
			fmt.Printf("%v %s = %s\n", change.Type, entry.Key, entry.Value)
		}
	}
}
