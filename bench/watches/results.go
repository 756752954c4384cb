package main

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// results are the results of all rounds.
type results map[key][]result

type key struct {
	client, transport string
	watches           int
}

func (r results) add(t task, one result) {
	k := key{t.Client, t.Transport, t.Watches}
	r[k] = append(r[k], one)
}

// figures are the figures that are printed. Zero stands for a figure that was not measured.
var figures = []struct {
	name, format string
	of           func(result) float64
}{
	{"heap and stacks of an idle watch, kB", "%.1f", func(r result) float64 { return r.Bytes / 1000 }},
	{"the same with two handlers, after events, kB", "%.1f", func(r result) float64 { return r.BytesAfter / 1000 }},
	{"goroutines of an idle watch", "%.1f", func(r result) float64 { return r.Goroutines }},
	{"CPU time of an idle watch, µs per second", "%.2f", func(r result) float64 { return r.IdleCPU / 1000 }},
	{"CPU time of an event, µs", "%.1f", func(r result) float64 { return r.CPU / 1000 }},
	{"events per second of CPU time", "%.0f", func(r result) float64 { return perSecond(r.CPU) }},
	{"events per second of wall time", "%.0f", func(r result) float64 { return perSecond(r.Wall) }},
	{"delay to a handler at 1,000 events per second, p99, ms", "%.2f", func(r result) float64 { return r.P99 / 1e6 }},
}

func perSecond(ns float64) float64 {
	if ns == 0 {
		return 0
	}
	return 1e9 / ns
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

// median returns the median of a figure, without the rounds that did not measure it.
func median(results []result, figure func(result) float64) float64 {
	var values []float64
	for _, one := range results {
		if value := figure(one); value != 0 {
			values = append(values, value)
		}
	}
	return harness.Median(values)
}
