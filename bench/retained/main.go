// Retained compares what a store's objects take of the heap, by how they were decoded: bytes for each of 10,000 Pods, all
// included but the store: what the collector's size classes add, and dictionaries, compressors and what is kept ready.
//
// The Pods of the first column have most of their text in common, as those of one workload, which is of no use to anybody but
// cache/compact; those of the second are of 1,000 templates. Each contender has a process of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/decoders"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

var (
	pods  = flag.Int("pods", 10_000, "how many there are")
	short = flag.Bool("short", false, "little work, only to see that all works")
)

const templates = 1000

// task is to decode some Pods.
type task struct {
	Decoder   int
	Pods      int
	Templated bool
}

// result is the bytes that a Pod takes, and that its event had.
type result struct{ Bytes, Event float64 }

func main() {
	if measure.Worker("decode", retain) {
		return
	}
	flag.Parse()
	if *short {
		*pods = 200
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "bytes a Pod\talike\tof the event\t%d templates\tof the event\tasked\n", templates)
	for i, decoder := range decoders.All() {
		if decoder.Name == decoders.Floor {
			continue
		}
		fmt.Fprintln(os.Stderr, decoder.Name)
		var alike, templated result
		measure.Must(measure.Apart(ctx, "decode", task{i, *pods, false}, &alike))
		measure.Must(measure.Apart(ctx, "decode", task{i, *pods, true}, &templated))
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.0f\t%.2f\t%s\n", decoder.Name, alike.Bytes, alike.Bytes/alike.Event,
			templated.Bytes, templated.Bytes/templated.Event, verdict(decoder.Name, alike.Bytes, templated.Bytes))
	}
	measure.Must(w.Flush())
}

func verdict(name string, alike, templated float64) string {
	if *short {
		return ""
	}
	switch name {
	case decoders.Listwatch:
		return measure.Asked("at most 4400, alike", alike <= 4400)
	case decoders.Projected:
		return measure.Asked("at most 500, alike", alike <= 500)
	case decoders.Compact:
		return measure.Asked("at most 1200, templates", templated <= 1200)
	}
	return ""
}

// retain carries out a task.
func retain(t task) result {
	made := sample.Pods(1, t.Pods)
	if t.Templated {
		made = sample.Templated(1, t.Pods, templates)
	}
	events, decoder := decoders.NewEvents(made), decoders.All()[t.Decoder]
	stream := decoder.Stream(events)
	before := measure.Heap()
	kept := decoder.Run(stream, t.Pods, t.Pods)
	after := measure.Heap()
	runtime.KeepAlive(stream)
	runtime.KeepAlive(decoder)
	runtime.KeepAlive(kept)
	return result{(after - before) / float64(t.Pods), float64(decoder.Bytes(events))}
}
