package main

import (
	"os"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// contender is a cache implementation and its results, one per round.
type contender struct {
	listwatch bool
	results   []result
}

// result contains the measurements of one process: times in seconds and sizes in bytes.
type result struct {
	Done, CPU, PeakRSS, RSS, Heap float64
	Samples                       []sample
}

// sample contains the RSS in bytes and the time in seconds since sampling began.
type sample struct{ Seconds, RSS float64 }

// sampling appends a sample to the slice every 50 ms until stop is called.
func sampling(to *[]sample) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for {
			*to = append(*to, sample{time.Since(began).Seconds(), harness.RSS()})
			select {
			case <-ticks.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

var figures = []struct {
	name string
	of   func(result) float64
}{
	{"time until all CAs are written, s", func(r result) float64 { return r.Done }},
	{"CPU time, s", func(r result) float64 { return r.CPU }},
	{"peak RSS, MB", func(r result) float64 { return r.PeakRSS / 1e6 }},
	{"RSS at the end, MB", func(r result) float64 { return r.RSS / 1e6 }},
	{"heap at the end, MB", func(r result) float64 { return r.Heap / 1e6 }},
}

func show(ours, theirs *contender) error {
	rows := harness.NewTable(os.Stdout, "\tlistwatch\tcontroller-runtime\tratio")
	for _, figure := range figures {
		a, b := harness.MedianOf(ours.results, figure.of), harness.MedianOf(theirs.results, figure.of)
		rows.Row("%s\t%.2f\t%.2f\t%.2f", figure.name, a, b, a/b)
	}
	return rows.Flush()
}

func (c *contender) last() []sample { return c.results[len(c.results)-1].Samples }
