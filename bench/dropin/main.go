// Dropin compares controller-runtime's cache over client-go's informers with the same cache over the adapter. Both receive typed
// Pods as protobuf, and unstructured Pods as JSON, like custom resources.
//
// Each measurement has a process of its own. Lists come in one body.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var (
	count  = flag.Int("pods", 10_000, "number of Pods")
	rounds = flag.Int("rounds", 3, "number of rounds, whose medians are printed")
)

func main() {
	harness.Main("dropin", compare, harness.Worker("cache", measure), harness.Server("server", startServer))
}

func compare(ctx context.Context) error {
	if *harness.Short {
		*count, *rounds = 100, 1
	}
	var url string
	stop, err := harness.Serve(ctx, "server", *count, &url)
	if err != nil {
		return err
	}
	defer stop()
	for _, unstructured := range []bool{false, true} {
		for _, handler := range []bool{false, true} {
			if err := table(ctx, task{URL: url, Pods: *count, Unstructured: unstructured, Handler: handler}); err != nil {
				return err
			}
		}
	}
	return nil
}

// contender is a kind of informer with its results.
type contender struct {
	listwatch bool
	results   []result
}

// table measures both contenders in turns and prints their medians.
func table(ctx context.Context, t task) error {
	theirs, ours := &contender{}, &contender{listwatch: true}
	name := func(c *contender) string { return fmt.Sprintf("listwatch %t", c.listwatch) }
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
	rows := harness.NewTable(os.Stdout, "\tlistwatch\tclient-go\tratio")
	for _, row := range figures {
		a, b := harness.MedianOf(ours.results, row.of), harness.MedianOf(theirs.results, row.of)
		rows.Row("%s\t%.1f\t%.1f\t%.2f", row.name, a, b, a/b)
	}
	return rows.Flush()
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// result has the figures of one process.
type result struct {
	SyncCPU, PeakRSS, Heap, HeapAfterList, PerEvent, ColdList float64
}

var figures = []struct {
	name string
	of   func(result) float64
}{
	{"CPU to sync, ms", func(r result) float64 { return r.SyncCPU / 1e6 }},
	{"peak RSS while syncing, MB", func(r result) float64 { return r.PeakRSS / 1e6 }},
	{"heap after sync, MB", func(r result) float64 { return r.Heap / 1e6 }},
	{"heap after a full List, MB", func(r result) float64 { return r.HeapAfterList / 1e6 }},
	{"CPU per event, µs", func(r result) float64 { return r.PerEvent / 1e3 }},
	{"CPU per object of the first List, µs", func(r result) float64 { return r.ColdList / 1e3 }},
}
