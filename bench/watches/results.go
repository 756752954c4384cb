package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/informers"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// results are what was measured, by contender, transport and number of watches.
type results struct {
	numbers []int
	all     map[key][]informers.Result
}

type key struct {
	contender, transport string
	watches              int
}

func newResults(numbers []int) *results {
	return &results{numbers: numbers, all: map[key][]informers.Result{}}
}

func (r *results) add(t informers.Task, one informers.Result) {
	k := key{t.Contender, t.Transport, t.Watches}
	r.all[k] = append(r.all[k], one)
}

// figures are what is printed of a result. Zero stands for what was not measured.
var figures = []struct {
	name, format string
	of           func(informers.Result) float64
}{
	{"kB of heap and stacks for an idle watch", "%.1f", func(r informers.Result) float64 { return r.Bytes / 1000 }},
	{"the same with two handlers, after events", "%.1f", func(r informers.Result) float64 { return r.BytesAfter / 1000 }},
	{"goroutines for an idle watch", "%.1f", func(r informers.Result) float64 { return r.Goroutines }},
	{"µs of processor time a second for an idle watch", "%.2f", func(r informers.Result) float64 { return r.IdleCPU / 1000 }},
	{"µs of processor time for an event", "%.1f", func(r informers.Result) float64 { return r.CPU / 1000 }},
	{"events a second of processor time", "%.0f", func(r informers.Result) float64 { return perSecond(r.CPU) }},
	{"events a second by the clock", "%.0f", func(r informers.Result) float64 { return perSecond(r.Clock) }},
	{"ms to a handler at 1,000 events a second, 99th percentile", "%.2f", func(r informers.Result) float64 { return r.P99 / 1e6 }},
}

func perSecond(ns float64) float64 {
	if ns == 0 {
		return 0
	}
	return 1e9 / ns
}

func (r *results) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, figure := range figures {
		fmt.Fprintf(w, "%s\tlistwatch\tclient-go\tratio\n", figure.name)
		for _, n := range r.numbers {
			for _, transport := range transports {
				median := func(contender string) float64 { return median(r.all[key{contender, transport, n}], figure.of) }
				mine, other := median("listwatch"), median("client-go")
				switch {
				case mine != 0 && other != 0:
					fmt.Fprintf(w, "  %d over %s\t"+figure.format+"\t"+figure.format+"\t%.3f\n", n, transport, mine, other, mine/other)
				case mine != 0:
					fmt.Fprintf(w, "  %d over %s\t"+figure.format+"\t\t\n", n, transport, mine)
				}
			}
		}
	}
	return w.Flush()
}

func median(of []informers.Result, figure func(informers.Result) float64) float64 {
	var values []float64
	for _, one := range of {
		if value := figure(one); value != 0 {
			values = append(values, value)
		}
	}
	return measure.Median(values)
}
