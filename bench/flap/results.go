package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// result has the figures of one client in one scenario.
type result struct {
	name          string
	ends          int       // of watches
	p50, p99, max float64   // milliseconds until a handler sees a change
	stale         float64   // share of the time without an open watch
	delays        []float64 // milliseconds
}

func (c *client) result(from, to time.Time) result {
	r := result{name: c.name, delays: c.changes.seen()}
	r.ends, r.stale = c.outages.within(from, to)
	r.p50, r.p99 = measure.Median(r.delays), measure.Quantile(r.delays, 0.99)
	for _, one := range r.delays {
		r.max = max(r.max, one)
	}
	return r
}

// row is a scenario with the results of both clients, ours first.
type row struct {
	scenario
	writes, resets int
	results        [2]result
}

// target is a limit, and whether the library keeps it.
type target struct {
	text string
	met  bool
}

// Targets of the scenarios.
const (
	mostP99   = 150  // milliseconds
	mostRatio = 3    // p99 compared with client-go
	mostMax   = 500  // milliseconds
	mostStale = 0.01 // of the time
)

func delayTargets(ours, theirs result) []target {
	return []target{
		{fmt.Sprintf("p99 at most %d ms", mostP99), ours.p99 <= mostP99},
		{fmt.Sprintf("p99 at most %d times that of client-go", mostRatio), ours.p99 <= mostRatio*theirs.p99},
		{fmt.Sprintf("max at most %d ms", mostMax), ours.max <= mostMax},
	}
}

func staleTarget(ours, _ result) []target {
	return []target{{fmt.Sprintf("without a watch for less than %g %% of the time", 100*mostStale), ours.stale < mostStale}}
}

// printAll prints a line for each client in each scenario, then the targets.
func printAll(to io.Writer, rows []row) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tclient\tresets\twatches ended\tupdates\tdelay p50, ms\tdelay p99, ms\tdelay max, ms\ttime without a watch, %")
	for _, r := range rows {
		for i, one := range r.results {
			name := r.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%.2f\n", name, one.name, r.resets, one.ends, r.writes, one.delayed(), 100*one.stale)
		}
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		if r.targets == nil {
			continue
		}
		for _, t := range r.targets(r.results[0], r.results[1]) {
			fmt.Fprintf(w, "target: %s: %s\t%s\n", r.name, t.text, map[bool]string{true: "met", false: "not met"}[t.met])
		}
	}
	return w.Flush()
}

// delayed returns the three columns of delays, which are empty without updates.
func (r result) delayed() string {
	if len(r.delays) == 0 {
		return "\t\t"
	}
	return fmt.Sprintf("%.1f\t%.1f\t%.1f", r.p50, r.p99, r.max)
}
