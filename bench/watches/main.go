// Command watches compares informers of listwatch with dynamic informers of client-go, with 1, 100 and 1,000 watches
// over loopback. It measures the memory of an idle watch, and the CPU time per event of a 6.5 kB Pod. The CPU time
// includes all work of the client, from the socket to two handlers.
//
// HTTP/2 uses TLS. HTTP/1.1 and WebSocket do not. The server runs in a separate process, so that its CPU time and
// memory do not count.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

// Names of the transports.
const (
	overHTTP1     = "HTTP/1.1"
	overHTTP2     = "HTTP/2"
	overWebSocket = "WebSocket" // listwatch only
)

var transports = []string{overHTTP1, overHTTP2, overWebSocket}

// events contains the number of events per measurement. client-go gets fewer events, because it needs more than 20
// times as much time per event.
var events = map[string]int{clients.Listwatch: 100_000, clients.ClientGo: 5_000}

var (
	rounds = flag.Int("rounds", 3, "number of rounds; the median is printed")
	idle   = flag.Duration("idle", 16*time.Second, "how long to measure the CPU time of idle watches in the first round")
	start  = flag.Int("start", 0, "only start this many watches at once over HTTP/2, and print the number of connections and the elapsed time")
)

func main() {
	harness.Main("watches", compare, harness.Server("server", startServer), harness.Worker("client", measure))
}

func compare(ctx context.Context) error {
	if *start > 0 {
		return startAtOnce(ctx)
	}
	numbers := []int{1, 100, 1000}
	if *harness.Short {
		numbers, *rounds, *idle = []int{1, 20}, 1, 0
	}
	found := results{}
	name := func(t *task) string { return fmt.Sprintf("%d watches, %s, %s", t.Watches, t.Client, t.Transport) }
	err := harness.Rounds(*rounds, tasks(numbers), name, func(t *task) error {
		r, err := measureApart(ctx, *t)
		found.add(*t, r)
		t.Idle = 0 // measured only in the first round, because it takes long
		return err
	})
	if err != nil {
		return err
	}
	if err := found.print(os.Stdout, numbers); err != nil {
		return err
	}
	return harness.Save("watches", found.published(slices.Max(numbers)))
}

// measureApart runs the task and its server in separate processes.
func measureApart(ctx context.Context, t task) (r result, err error) {
	stop, err := harness.Serve(ctx, "server", t.Transport, &t.Server)
	if err != nil {
		return r, err
	}
	defer stop()
	return r, harness.Run(ctx, "client", t, &r)
}

// startAtOnce prints the time and the number of connections for a simultaneous start of all watches.
func startAtOnce(ctx context.Context) error {
	results := published.Results{}
	for _, client := range []string{clients.Listwatch, clients.ClientGo} {
		r, err := measureApart(ctx, task{Client: client, Transport: overHTTP2, Watches: *start, StartOnly: true})
		if err != nil {
			return fmt.Errorf("starting %d watches at once with %s: %w", *start, client, err)
		}
		fmt.Printf("%s: %d connections dialed, at most %d open at once; all %d watches live after %.1f s\n",
			client, r.Dialed, r.MaxOpen, *start, r.Start.Seconds())
		results.Set("dialed", client, float64(r.Dialed))
		results.Set("open", client, float64(r.MaxOpen))
		results.Set("time", client, r.Start.Seconds())
	}
	if *harness.Write && *start != 10_000 {
		return errors.New("the table in docs/performance.md needs -start 10000")
	}
	return harness.Save("start", results)
}

// tasks returns one task for each combination of number, client and transport.
func tasks(numbers []int) (all []*task) {
	for _, n := range numbers {
		t := task{Watches: n, Pods: 1000}
		if n == slices.Max(numbers) {
			t.Idle = *idle
		}
		for _, t.Client = range []string{clients.Listwatch, clients.ClientGo} {
			t.Events = events[t.Client]
			if *harness.Short {
				t.Pods, t.Events = 20, 400
			}
			for _, t.Transport = range transports {
				if t.Client == clients.Listwatch || t.Transport != overWebSocket {
					one := t
					all = append(all, &one)
				}
			}
		}
	}
	return all
}

// results contains one result per round for each task.
type results map[key][]result

type key struct {
	client, transport string
	watches           int
}

func (r results) add(t task, one result) {
	k := key{t.Client, t.Transport, t.Watches}
	r[k] = append(r[k], one)
}

// figures lists the printed measurements. Zero means that a value was not measured.
var figures = []struct {
	name, format string
	of           func(result) float64
}{
	{"heap and stacks per idle watch, kB", "%.1f", func(r result) float64 { return r.Bytes / 1000 }},
	{"goroutines per idle watch", "%.1f", func(r result) float64 { return r.Goroutines }},
	{"CPU time per idle watch, µs per second", "%.2f", func(r result) float64 { return r.IdleCPU / 1000 }},
	{"CPU time per event, µs", "%.1f", func(r result) float64 { return r.CPU / 1000 }},
}

func (r results) print(to io.Writer, numbers []int) error {
	table := harness.NewTable(to, "\tlistwatch\tclient-go\tratio")
	for _, figure := range figures {
		table.Row("%s\t\t\t", figure.name)
		for _, n := range numbers {
			for _, transport := range transports {
				ours := median(r[key{clients.Listwatch, transport, n}], figure.of)
				theirs := median(r[key{clients.ClientGo, transport, n}], figure.of)
				switch {
				case ours != 0 && theirs != 0:
					table.Row("  %d over %s\t"+figure.format+"\t"+figure.format+"\t%.3f", n, transport, ours, theirs, ours/theirs)
				case ours != 0:
					table.Row("  %d over %s\t"+figure.format+"\t\t", n, transport, ours)
				}
			}
		}
	}
	return table.Flush()
}

// published returns the figures for the given number of watches.
func (r results) published(watches int) published.Results {
	all := published.Results{}
	for k, rounds := range r {
		if k.watches == watches {
			for _, figure := range figures {
				all.Set(figure.name, k.client+", "+k.transport, median(rounds, figure.of))
			}
		}
	}
	return all
}

// median returns the median of figure over the results in which it is not zero.
func median(results []result, figure func(result) float64) float64 {
	var values []float64
	for _, one := range results {
		if value := figure(one); value != 0 {
			values = append(values, value)
		}
	}
	return harness.Median(values)
}
