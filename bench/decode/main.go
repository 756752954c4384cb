// Decode compares what it costs to make of a watch's bytes the objects that a store keeps: of events of a Pod of 6.5 kB,
// metadata.managedFields included, as they come from a server. It prints processor time, the collector's included, and
// allocations, each for one event.
//
// Listwatch and client-go decode with what their clients use for a watch, from the body to the event. Json-iterator, which
// finds no frames, is given each line. What each makes is held until 1,000 more events have come, as in a store whose
// objects are replaced, so that a collector has to look at what a program would have.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/decoders"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

var (
	rounds = flag.Int("rounds", 15, "how often all is measured, in turns; the medians are printed")
	turn   = flag.Duration("turn", 150*time.Millisecond, "about how long a turn takes")
	short  = flag.Bool("short", false, "little work, only to see that all works")
)

const held = 1000

// result is what an event cost in each round.
type result struct{ ns, allocations, ratio []float64 }

func main() {
	flag.Parse()
	if *short {
		*rounds, *turn = 1, time.Millisecond
	}
	events := decoders.NewEvents(sample.Pods(7, held))
	all := decoders.All()
	results, numbers := make([]result, len(all)), make([]int, len(all))
	for i, decoder := range all { // pages in what is needed, and tells how many events a turn has
		ns, _ := once(decoder, events, held)
		numbers[i] = max(int(float64(turn.Nanoseconds())/ns), 100)
	}
	for range *rounds {
		for i, decoder := range all {
			ns, allocations := once(decoder, events, numbers[i])
			r := &results[i]
			r.ns, r.allocations = append(r.ns, ns), append(r.allocations, allocations)
			r.ratio = append(r.ratio, ns/results[0].ns[len(r.ns)-1])
		}
	}
	print(all, results, events)
}

// once returns the processor time and the allocations of an event.
func once(decoder decoders.Decoder, events *decoders.Events, n int) (ns, allocations float64) {
	stream := decoder.Stream(events)
	runtime.GC()
	began, allocated := measure.ProcessorTime(), measure.Allocations()
	kept := decoder.Run(stream, n, held)
	ns, allocations = float64(measure.ProcessorTime()-began), measure.Allocations()-allocated
	runtime.KeepAlive(kept)
	return ns / float64(n), allocations / float64(n)
}

// asked are the ratios to listwatch that were asked for.
var asked = map[string]struct {
	text  string
	holds func(ratio float64) bool
}{
	decoders.Unstructured: {"at least 40", func(ratio float64) bool { return ratio >= 40 }},
	decoders.Protobuf:     {"above 2", func(ratio float64) bool { return ratio > 2 }},
	decoders.Floor:        {"at least 1/1.8", func(ratio float64) bool { return ratio >= 1/1.8 }},
}

func print(all []decoders.Decoder, results []result, events *decoders.Events) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "an event\tbytes\tµs\tallocations\tratio\tasked")
	for i, decoder := range all {
		ns, allocations, ratio := measure.Median(results[i].ns), measure.Median(results[i].allocations), measure.Median(results[i].ratio)
		said, want := "", asked[decoder.Name]
		switch {
		case *short:
		case decoder.Name == decoders.Listwatch:
			said = measure.Asked("at most 2 allocations", allocations < 2.1)
		case want.text != "":
			said = measure.Asked(want.text, want.holds(ratio))
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.2f\t%s\n", decoder.Name, decoder.Bytes(events), ns/1000, allocations, ratio, said)
	}
	measure.Must(w.Flush())
}
