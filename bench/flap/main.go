// Command flap measures how fast informers see changes while their connections break repeatedly. It compares
// listwatch's informer, client-go's dynamic informer, and lwcat. All three clients watch one embedded server on
// loopback.
//
// A reset closes all connections of the server at once. A delay is the time from a write until a handler is called, or
// until lwcat has printed the change.
package main

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var (
	length   = 170 * time.Second // duration of the measurement, without the initial sync
	shortest = 10 * time.Second  // bounds of the random time between two resets
	longest  = 30 * time.Second
)

const (
	updates = 20 // updates per second
	objects = 50
	seed    = 1
)

func main() { harness.Main("flap", compare) }

func compare(ctx context.Context) error {
	if *harness.Short {
		length, shortest, longest = 2*time.Second, shortest/20, longest/20
	}
	results, err := measure(ctx)
	if err != nil {
		return err
	}
	table := harness.NewTable(os.Stdout, "client\twatches ended\tdelay p50, ms\tdelay p99, ms\tdelay max, ms\ttime without a watch, %")
	saved := published.Results{}
	for _, r := range results {
		p99 := harness.Quantile(r.delays, 0.99)
		table.Row("%s\t%d\t%.1f\t%.1f\t%.1f\t%.2f", r.name, r.ends, harness.Median(r.delays), p99, slices.Max(r.delays), 100*r.stale)
		saved.Set("p99", r.name, p99)
		saved.Set("stale", r.name, 100*r.stale)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return harness.Save("flap", saved)
}

// result contains the measurements of one client.
type result struct {
	name   string
	ends   int       // number of outages
	stale  float64   // fraction of the measurement without an open watch
	delays []float64 // milliseconds from each write until the handler call or the printed line
}
