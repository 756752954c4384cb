// Command watches compares listwatch's informers with client-go's dynamic informers, using 1,000 watches over
// loopback. It measures the memory per idle watch, and the CPU time per event with a 6.5 kB Pod. The CPU time
// includes all the client's work, from the socket to two handlers.
//
// HTTP/2 uses TLS. HTTP/1.1 and WebSocket do not. The server runs in a separate process, so that its CPU time and
// memory do not count. With -start, the command instead measures how 10,000 watches start at once.
package main

import (
	"context"
	"flag"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
)

// Names of the transports.
const (
	overHTTP1     = "HTTP/1.1"
	overHTTP2     = "HTTP/2"
	overWebSocket = "WebSocket" // listwatch only
)

var (
	rounds = harness.Rounds(3)
	start  = flag.Bool("start", false, "only start 10,000 watches at once over HTTP/2")
)

func main() {
	harness.Main(compare, harness.Server("server", serve.Start),
		worker("watches", (*measurement).saturate), worker("start", (*measurement).startAtOnce))
}

func compare(ctx context.Context) error {
	if *start {
		return compareStart(ctx)
	}
	contenders := []string{"listwatch, " + overHTTP1, "listwatch, " + overHTTP2, "listwatch, " + overWebSocket,
		"client-go, " + overHTTP1, "client-go, " + overHTTP2}
	found, err := harness.Compare(*rounds, contenders, func(contender string) (harness.Figures, error) {
		t := task{Watches: harness.Size(1000, 20), Idle: harness.Size(16*time.Second, time.Millisecond)}
		t.Client, t.Transport, _ = strings.Cut(contender, ", ")
		t.Events = 5 // client-go gets fewer events, because it needs more than 20 times as much time per event
		if t.Client == "listwatch" {
			t.Events = harness.Size(100, 10)
		}
		return measureApart(ctx, "watches", t)
	})
	if err != nil {
		return err
	}
	return harness.Save("watches", harness.Medians(found))
}

func compareStart(ctx context.Context) error {
	found, err := harness.Compare(1, []string{"listwatch", "client-go"}, func(client string) (harness.Figures, error) {
		return measureApart(ctx, "start", task{Client: client, Transport: overHTTP2, Watches: harness.Size(10_000, 20)})
	})
	if err != nil {
		return err
	}
	return harness.Save("start", found)
}

// measureApart runs a task and its server in separate processes.
func measureApart(ctx context.Context, role string, t task) (found harness.Figures, err error) {
	stop, err := harness.Serve(ctx, "server", serve.Config{Changed: 1, Batch: 8, Streaming: true, HTTP2: t.Transport == overHTTP2}, &t.Server)
	if err != nil {
		return nil, err
	}
	defer stop()
	return found, harness.Run(ctx, role, t, &found)
}
