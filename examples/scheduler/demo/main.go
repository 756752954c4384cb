// Command demo runs the example scheduler. By default, it starts an embedded API server, and creates nodes and Pods.
// With -server, it uses a cluster that has no other scheduler, for example through kubectl proxy.
//
//	go run ./examples/scheduler/demo -duration 5s
//	go run ./examples/scheduler/demo -server http://127.0.0.1:8001
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/examples/scheduler"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	server := flag.String("server", "", "URL of an API server; if empty, the demo starts an embedded server")
	duration := flag.Duration("duration", 0, "duration of the demo; 0 means until ^C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	if err := run(ctx, *server); err != nil {
		log.Fatal("demo: ", err)
	}
}

func run(ctx context.Context, url string) error {
	if url == "" {
		embedded, err := lwtest.Start(nil)
		if err != nil {
			return err
		}
		defer embedded.Close()
		url = embedded.URL
		go populate(ctx, embedded)
	}
	transport, err := lwhttp.New(url, nil)
	if err != nil {
		return err
	}
	defer transport.Close()
	s, err := scheduler.New(scheduler.Config{
		Transport: transport, URL: url, Client: http.DefaultClient, Workers: 4, Log: func(err error) { log.Print(err) },
	})
	if err != nil {
		return err
	}
	go show(ctx, s.Pods())
	_ = s.Run(ctx) // returns only when ctx is done
	return nil
}

// populate creates three nodes, and a Pod every 200 ms until ctx is done.
func populate(ctx context.Context, server *lwtest.Server) {
	for _, name := range []string{"node-a", "node-b", "node-c"} {
		_, _ = server.Create("nodes", `{"metadata":{"name":"`+name+`"},"status":{"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}}`)
	}
	for ctx.Err() == nil {
		_, _ = server.Create("pods", `{"metadata":{"generateName":"web-"},"spec":{"containers":[{"resources":{"requests":{"cpu":"100m"}}}]}}`)
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// show prints a line for each Pod when it is bound.
func show(ctx context.Context, pods *cache.Informer[*lw.Object]) {
	for change := range pods.Changes(ctx, &cache.HandlerOptions[*lw.Object]{Filter: isBound}) {
		if change.Type == cache.Added {
			fmt.Printf("%s is bound to %s\n", change.New.Key(), change.New.Get("spec.nodeName"))
		}
	}
}

func isBound(pod *lw.Object) bool { return pod.Get("spec.nodeName").Exists() }
