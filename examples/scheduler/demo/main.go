// Command demo runs the example scheduler. By default, it starts an embedded API server, and creates nodes and Pods.
// With -server, it uses a cluster that has no other scheduler, for example through kubectl proxy.
//
//	go run ./examples/scheduler/demo -duration 5s
//	go run ./examples/scheduler/demo -server http://127.0.0.1:8001
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/scheduler"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	server := flag.String("server", "", "URL of an API server; if empty, the demo starts an embedded server")
	duration := flag.Duration("duration", 0, "duration of the demo; 0 means until ^C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *duration > 0 {
		ctx, stop = context.WithTimeout(ctx, *duration)
		defer stop()
	}
	if *server == "" {
		embedded, err := lwtest.Start(nil)
		if err != nil {
			log.Fatal(err)
		}
		*server = embedded.URL
		go populate(ctx, embedded)
	}
	transport, err := lwhttp.New(*server, nil)
	if err != nil {
		log.Fatal(err)
	}
	s, err := scheduler.New(transport, *server, http.DefaultClient)
	if err != nil {
		log.Fatal(err)
	}
	_ = s.Run(ctx) // returns only when ctx is done
}

// populate creates three nodes, and a Pod every 200 ms until ctx is done.
func populate(ctx context.Context, server *lwtest.Server) {
	for _, name := range []string{"node-a", "node-b", "node-c"} {
		_, _ = server.Create("nodes", `{"metadata":{"name":"`+name+`"},"status":{"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}}`)
	}
	for tick := time.Tick(200 * time.Millisecond); ctx.Err() == nil; <-tick {
		_, _ = server.Create("pods", `{"metadata":{"generateName":"web-"},"spec":{"containers":[{"resources":{"requests":{"cpu":"100m"}}}]}}`)
	}
}
