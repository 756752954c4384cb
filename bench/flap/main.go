// Flap measures how fast an informer recovers when its connections break repeatedly. It runs the library's informer and
// client-go's dynamic informer in one process against one embedded server on loopback. The server resets all
// connections at once. A delay is the time from a write to the call of a handler.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var length = 170 * time.Second // duration of each scenario; -short sets 2 s

const (
	updates = 20 // per second, except in the quiet scenario
	objects = 50 // in the collection
	seed    = 1
)

// shortened is the factor by which -short divides the time between two resets.
const shortened = 20

// scenarios are printed in this order.
var scenarios = []scenario{
	{name: "reset every 10-30 s", shortest: 10 * time.Second, longest: 30 * time.Second, busy: true, targets: delayTargets},
	{name: "reset every 5 s", shortest: 5 * time.Second, longest: 5 * time.Second, busy: true, targets: staleTarget},
	{name: "reset every 15 s, no updates", shortest: 15 * time.Second, longest: 15 * time.Second, targets: staleTarget},
	{name: "reset every 6 s", shortest: 6 * time.Second, longest: 6 * time.Second, busy: true},
}

func main() { harness.Main("flap", compare) }

// compare runs all scenarios one after the other and prints their results.
func compare(ctx context.Context) error {
	if *harness.Short {
		length = 2 * time.Second
	}
	var rows []row
	name := func(s scenario) string { return s.name }
	err := harness.Rounds(1, scenarios, name, func(s scenario) error {
		if *harness.Short {
			s.shortest, s.longest = s.shortest/shortened, s.longest/shortened
		}
		r, err := play(ctx, s)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return err
	}
	return printAll(os.Stdout, rows)
}

// result contains the measurements of one client in one scenario.
type result struct {
	name          string
	ends          int       // number of ended watches
	p50, p99, max float64   // milliseconds until a handler sees a change
	stale         float64   // fraction of the time without an open watch
	delays        []float64 // milliseconds
}

func (c *client) result(from, to time.Time) result {
	r := result{name: c.name, delays: c.changes.seen()}
	r.ends, r.stale = c.outages.within(from, to)
	r.p50, r.p99 = harness.Median(r.delays), harness.Quantile(r.delays, 0.99)
	r.max = slices.Max(append(r.delays, 0))
	return r
}

// row is a scenario with the results of both clients, listwatch first.
type row struct {
	scenario
	writes, resets int
	results        [2]result
}

// Targets of the scenarios.
const (
	mostP99   = 150  // milliseconds
	mostRatio = 3    // p99 compared with client-go
	mostMax   = 500  // milliseconds
	mostStale = 0.01 // fraction of the time
)

func delayTargets(ours, theirs result) []string {
	return []string{
		harness.Target(fmt.Sprintf("p99 at most %d ms", mostP99), ours.p99 <= mostP99),
		harness.Target(fmt.Sprintf("p99 at most %d times that of client-go", mostRatio), ours.p99 <= mostRatio*theirs.p99),
		harness.Target(fmt.Sprintf("max at most %d ms", mostMax), ours.max <= mostMax),
	}
}

func staleTarget(ours, _ result) []string {
	return []string{harness.Target(fmt.Sprintf("without a watch for less than %g %% of the time", 100*mostStale), ours.stale < mostStale)}
}

// printAll prints a line for each client in each scenario, then the targets.
func printAll(to io.Writer, rows []row) error {
	table := harness.NewTable(to, "scenario\tclient\tresets\twatches ended\tupdates\tdelay p50, ms\tdelay p99, ms\tdelay max, ms\ttime without a watch, %")
	var targets []string
	for _, r := range rows {
		name := r.name
		for _, one := range r.results {
			table.Row("%s\t%s\t%d\t%d\t%d\t%s\t%.2f", name, one.name, r.resets, one.ends, r.writes, one.delayed(), 100*one.stale)
			name = ""
		}
		if r.targets != nil {
			for _, target := range r.targets(r.results[0], r.results[1]) {
				targets = append(targets, r.name+": "+target)
			}
		}
	}
	if err := table.Flush(); err != nil || *harness.Short {
		return err
	}
	_, err := fmt.Fprintf(to, "\n%s\n", strings.Join(targets, "\n"))
	return err
}

// delayed returns the three delay columns. They are empty without updates.
func (r result) delayed() string {
	if len(r.delays) == 0 {
		return "\t\t"
	}
	return fmt.Sprintf("%.1f\t%.1f\t%.1f", r.p50, r.p99, r.max)
}
