// Command dropin compares two implementations of controller-runtime's cache: the default implementation with
// client-go's informers, and listwatch's adapter. Both receive typed Pods as protobuf and unstructured Pods as JSON.
//
// Each measurement runs in a separate process. The server sends each list in one page.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var (
	count  = flag.Int("objects", 10_000, "number of Pods")
	rounds = flag.Int("rounds", 3, "number of rounds; the median is printed")
	real   = flag.Bool("apiserver", false, "measure only the CPU time per event, with the kube-apiserver from make e2e-server")
	kinds  = flag.String("kinds", "typed,unstructured", "comma-separated tables to print: typed, unstructured")
)

func main() {
	harness.Main("dropin", compare, harness.Worker("cache", measure), harness.Worker("real", measureReal), harness.Server("server", startServer))
}

func compare(ctx context.Context) error {
	if *harness.Short {
		*count, *rounds = 100, 1
	}
	if *real {
		return compareOnServer(ctx)
	}
	var url string
	stop, err := harness.Serve(ctx, "server", *count, &url)
	if err != nil {
		return err
	}
	defer stop()
	for kind := range strings.SplitSeq(*kinds, ",") {
		results, unstructured := published.Results{}, kind == "unstructured"
		for _, handler := range []bool{false, true} {
			if err := table(ctx, task{URL: url, Pods: *count, Unstructured: unstructured, Handler: handler}, results); err != nil {
				return err
			}
		}
		if err := harness.Save(kind, results); err != nil {
			return err
		}
	}
	return nil
}

// contender is a cache implementation and its results, one per round.
type contender struct {
	listwatch bool
	results   []result
}

// values returns a figure of each round.
func (c *contender) values(figure func(result) float64) (values []float64) {
	for _, r := range c.results {
		values = append(values, figure(r))
	}
	return values
}

// table measures both caches alternately and prints a table of the medians. It also adds the figures to the results.
func table(ctx context.Context, t task, to published.Results) error {
	theirs, ours := &contender{}, &contender{listwatch: true}
	name := func(c *contender) string { return fmt.Sprintf("listwatch=%t", c.listwatch) }
	err := harness.Rounds(*rounds, []*contender{theirs, ours}, name, func(c *contender) error {
		own := t
		own.Listwatch = c.listwatch
		var r result
		if err := harness.Run(ctx, "cache", own, &r); err != nil {
			return err
		}
		c.results = append(c.results, r)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("\n%d Pods, %s, %s\n", t.Pods, pick(t.Unstructured, "unstructured", "typed"), pick(t.Handler, "with a handler", "without handlers"))
	rows := harness.NewTable(os.Stdout, "\tlistwatch\tclient-go\tratio\tgoal")
	for _, row := range figures {
		a, b := harness.MedianOf(ours.results, row.of), harness.MedianOf(theirs.results, row.of)
		goal := pick(t.Unstructured, row.unstructured, row.typed)
		rows.Row("%s\t%.1f\t%.1f\t%.2f\t%s", row.name, a, b, a/b, target(a/b, goal))
		to.Ratios(row.name, pick(t.Handler, "ratio, one handler", "ratio, no handler"), ours.values(row.of), theirs.values(row.of))
		if goal != 0 {
			to.Set(row.name, "goal", goal)
		} else {
			to.Set(row.name, "goal")
		}
		if t.Handler {
			to.Set(row.name, "listwatch", a)
			to.Set(row.name, "client-go", b)
		}
	}
	return rows.Flush()
}

// target returns a table cell such as "at most 0.50", with the suffix ", missed" if ratio exceeds goal. It returns ""
// if goal is zero.
func target(ratio, goal float64) string {
	if goal == 0 {
		return ""
	}
	return fmt.Sprintf("at most %.2f%s", goal, pick(ratio <= goal, "", ", missed"))
}

func pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

// result contains the measurements of one process: CPU times in nanoseconds, sizes in bytes, and the number of events.
type result struct {
	SyncCPU, PeakRSS, Heap, HeapAfterList, PerEvent, Get, ColdList, List, Events float64
}

// figures lists the rows of a table. typed and unstructured are the maximum ratios of listwatch to client-go for typed
// and unstructured Pods. Zero means no maximum.
var figures = []struct {
	name                string
	of                  func(result) float64
	typed, unstructured float64
}{
	{"CPU to sync, ms", func(r result) float64 { return r.SyncCPU / 1e6 }, 0.5, 0.5},
	{"peak RSS while syncing, MB", func(r result) float64 { return r.PeakRSS / 1e6 }, 0.45, 0.45},
	{"heap after sync, MB", func(r result) float64 { return r.Heap / 1e6 }, 0.27, 0.27},
	{"heap after a full List, MB", func(r result) float64 { return r.HeapAfterList / 1e6 }, 0, 0},
	{"CPU per event, µs", func(r result) float64 { return r.PerEvent / 1e3 }, 0.75, 0.25},
	{"CPU per Get of a decoded object, µs", func(r result) float64 { return r.Get / 1e3 }, 1.2, 1.2},
	{"CPU per object of the first List, µs", func(r result) float64 { return r.ColdList / 1e3 }, 2.5, 2.5},
	{"CPU per object of the next List, µs", func(r result) float64 { return r.List / 1e3 }, 1.2, 1.2},
}
