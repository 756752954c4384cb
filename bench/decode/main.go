// Command decode measures how expensive it is to decode a watch event with a 6.5 kB Pod: the CPU time in µs,
// including garbage collection, and the allocations. Each library decodes events as in its own watches. The last
// 1,000 decoded objects stay reachable, so that the garbage collector has as much work as in a program with a
// store.
//
// The command then measures how much heap 10,000 decoded Pods occupy, in kB per Pod. The result includes allocator
// overhead, and the dictionaries and buffers of cache/compact. In one measurement, all Pods come from a single workload
// and are similar, which helps only cache/compact. In the other, they come from 1,000 templates. Each measurement runs
// in a separate process.
package main

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

var rounds = harness.Rounds(15)

const held = 1000 // number of decoded objects that stay reachable

func main() { harness.Main(compare, harness.Worker("retain", retain)) }

func compare(ctx context.Context) error {
	events, turn := encode(sample.Pods(7, held)), harness.Size(150*time.Millisecond, time.Millisecond)
	// n is the number of events that a decoder decodes per round. A fast decoder gets more events, so that each round takes
	// about as much CPU time as turn.
	n, names := map[string]int{}, []string{}
	for _, decoder := range decoders {
		warm := once(decoder.name, events, held)
		n[decoder.name] = max(int(float64(turn.Microseconds())/warm["CPU time per event, µs"]), 100)
		names = append(names, decoder.name)
	}
	found, err := harness.Compare(*rounds, names, func(name string) (harness.Figures, error) { return once(name, events, n[name]), nil })
	if err != nil {
		return err
	}
	results := harness.Medians(found)
	// Divides figures of the same round, because other load on the machine can slow down whole rounds.
	var ratios []float64
	for i, floor := range found.Get("CPU time per event, µs", baseline) {
		ratios = append(ratios, found.Get("CPU time per event, µs", rawCodec)[i]/floor)
	}
	results.Set("CPU time per event, µs", "lw.RawCodec to baseline", harness.Median(ratios))
	found, err = harness.Compare(1, names, func(name string) (harness.Figures, error) {
		all := harness.Figures{}
		for figure, templates := range map[string]int{"heap per Pod from one template, kB": 0, "heap per Pod from 1,000 templates, kB": 1000} {
			var heap float64
			if err := harness.Run(ctx, "retain", task{name, harness.Size(10_000, 200), templates}, &heap); err != nil {
				return nil, err
			}
			all[figure] = heap / 1000
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	maps.Copy(results, found)
	return harness.Save("decode", results)
}

func named(name string) decoder {
	return decoders[slices.IndexFunc(decoders, func(d decoder) bool { return d.name == name })]
}

// once decodes n events and measures them.
func once(name string, events map[string][]byte, n int) harness.Figures {
	decoder := named(name)
	stream := sample.Loop(events[decoder.format])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ns := harness.CPUPer(n, func() { runtime.KeepAlive(decoder.run(stream, n, held)) })
	runtime.ReadMemStats(&after)
	return harness.Figures{"CPU time per event, µs": ns / 1000, "allocations per event": float64(after.Mallocs-before.Mallocs) / float64(n)}
}

// task is a heap measurement. If Templates is zero, all Pods are similar.
type task struct {
	Decoder         string
	Pods, Templates int
}

// retain decodes all Pods and keeps the objects in memory. It returns how much the heap grows per Pod, in bytes.
func retain(t task) float64 {
	pods := sample.Pods(1, t.Pods)
	if t.Templates > 0 {
		pods = sample.Templated(1, t.Pods, t.Templates)
	}
	decoder := named(t.Decoder)
	stream := sample.Loop(encode(pods)[decoder.format])
	before := harness.Heap()
	objects := decoder.run(stream, t.Pods, t.Pods)
	after := harness.Heap()
	runtime.KeepAlive(stream) // was part of the heap before, so it must also be part of the heap after
	runtime.KeepAlive(decoder)
	runtime.KeepAlive(objects)
	return (after - before) / float64(t.Pods)
}
