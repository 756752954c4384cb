// Command retained measures the heap that 10,000 decoded Pods occupy, in bytes per Pod. The result includes allocator
// overhead, and the dictionaries and buffers of cache/compact.
//
// The Pods of the column "one workload" come from a single workload, which helps only cache/compact. The Pods of the
// other column come from 1,000 templates. Each measurement runs in a separate process.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/seed-6d2a410a/listwatch/bench/internal/decoders"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

var pods = flag.Int("pods", 10_000, "number of Pods")

const templates = 1000

// task is a measurement of one decoder with one set of Pods.
type task struct {
	Decoder   int // index in decoders.All()
	Pods      int
	Templated bool
}

// result contains the heap size per decoded Pod and the average size of an encoded event, both in bytes.
type result struct{ Heap, Event float64 }

func main() { harness.Main("retained", compare, harness.Worker("decode", retain)) }

func compare(ctx context.Context) error {
	if *harness.Short {
		*pods = 200
	}
	results := published.Results{}
	table := harness.NewTable(os.Stdout, fmt.Sprintf("bytes per Pod\tone workload\t/ event size\t%d templates\t/ event size", templates))
	for i, decoder := range decoders.All() {
		if decoder.Name == decoders.Floor {
			continue
		}
		fmt.Fprintln(os.Stderr, decoder.Name)
		var alike, templated result
		if err := harness.Run(ctx, "decode", task{i, *pods, false}, &alike); err != nil {
			return err
		}
		if err := harness.Run(ctx, "decode", task{i, *pods, true}, &templated); err != nil {
			return err
		}
		table.Row("%s\t%.0f\t%.2f\t%.0f\t%.2f", decoder.Name, alike.Heap, alike.Heap/alike.Event,
			templated.Heap, templated.Heap/templated.Event)
		results.Set("similar Pods", decoder.Name, alike.Heap/1000)
		results.Set("templates", decoder.Name, templated.Heap/1000)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return harness.Save("retained", results)
}

// retain decodes all Pods and keeps the objects in memory. It returns the growth of the heap per Pod.
func retain(t task) result {
	made := sample.Pods(1, t.Pods)
	if t.Templated {
		made = sample.Templated(1, t.Pods, templates)
	}
	events, decoder := decoders.NewEvents(made), decoders.All()[t.Decoder]
	stream := decoder.Stream(events)
	before := harness.Heap()
	objects := decoder.Run(stream, t.Pods, t.Pods)
	after := harness.Heap()
	runtime.KeepAlive(stream)
	runtime.KeepAlive(decoder)
	runtime.KeepAlive(objects)
	return result{(after - before) / float64(t.Pods), float64(decoder.EventSize(events))}
}
