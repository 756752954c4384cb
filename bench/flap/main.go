// Command flap measures how fast an informer recovers when its connections break repeatedly. It runs listwatch's
// informer and client-go's dynamic informer in one process, and lwcat in another process, against an embedded server on
// loopback. Each reset closes all of the server's connections at once. A delay is the time from a write to the call of a
// handler, or until lwcat has printed the change.
package main

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var (
	length   = 170 * time.Second // duration of the measurement
	shortest = 10 * time.Second  // minimum time between two resets
	longest  = 30 * time.Second
)

const (
	updates = 20 // number of updates per second
	objects = 50 // number of objects in the collection
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
	for _, r := range results {
		table.Row("%s\t%d\t%.1f\t%.1f\t%.1f\t%.2f", r.name, r.ends,
			harness.Median(r.delays), harness.Quantile(r.delays, 0.99), slices.Max(r.delays), 100*r.stale)
	}
	return table.Flush()
}

// result contains the measurements of one client.
type result struct {
	name   string
	ends   int       // number of ended watches
	stale  float64   // fraction of the time without an open watch
	delays []float64 // milliseconds until a handler sees a change
}
