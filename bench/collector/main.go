// Collector compares what the garbage collector takes while events come steadily, 10,000 in a second, and 100,000 Pods of 6.5 kB
// are held, each of which is replaced in turn: its share of the processor time, how often it runs, and for how long it stops the
// program. Events come from memory, so that all the rest is decoding. Each contender has a process of its own; who does not keep
// up is given fewer events, and is measured at what it manages.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/decoders"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

var (
	held  = flag.Int("held", 100_000, "how many Pods are held")
	rate  = flag.Int("rate", 10_000, "events a second")
	short = flag.Bool("short", false, "little work, only to see that all works")
)

// contenders are those that are compared, with the events for which each is measured: enough for two collections at least, as
// a collection comes when as much was allocated as is held.
var contenders = []struct {
	name   string
	events int
}{
	{decoders.Listwatch, 600_000},
	{decoders.Compact, 200_000},
	{decoders.Protobuf, 300_000},
	{decoders.Typed, 140_000},
	{decoders.Unstructured, 160_000},
}

// task is to hold Pods, and then to decode events at that rate.
type task struct {
	Name               string
	Held, Events, Rate int
}

// result is what was measured while the events came.
type result struct {
	Share       float64 // of the collector, of all processor time
	CPU         float64 // µs of processor time for an event
	Rate        float64 // events a second, by the clock
	Collections float64
	Pause       float64 // µs, the longest
	Allocated   float64 // MB a second
	Heap        float64 // MB in use at the end
}

func main() {
	if measure.Worker("decode", decode) {
		return
	}
	flag.Parse()
	if *short {
		*held, *rate = 500, 100_000
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	const line = "%-36s%12s%12s%12s%14s%12s%12s%10s\n"
	fmt.Printf(line, "", "collector's", "µs of CPU", "events", "collections", "µs, longest", "MB a second", "MB")
	fmt.Printf(line, "", "share", "an event", "a second", "", "pause", "allocated", "held")
	for _, c := range contenders {
		t := task{c.name, *held, c.events, *rate}
		if *short {
			t.Events = 2000
		}
		fmt.Fprintf(os.Stderr, "%s: %d Pods, and %d events\n", t.Name, t.Held, t.Events)
		var r result
		measure.Must(measure.Apart(ctx, "decode", t, &r))
		number := func(value float64) string { return strconv.FormatFloat(value, 'f', 0, 64) }
		share := "none ended"
		if r.Collections > 0 {
			share = fmt.Sprintf("%.1f %%", 100*r.Share)
		}
		fmt.Printf(line, t.Name, share, fmt.Sprintf("%.1f", r.CPU), number(r.Rate),
			number(r.Collections), number(r.Pause), number(r.Allocated), number(r.Heap))
	}
}

// decode carries out a task.
func decode(t task) result {
	all := decoders.All()
	decoder := all[slices.IndexFunc(all, func(d decoders.Decoder) bool { return d.Name == t.Name })]
	events := decoders.NewEvents(sample.Pods(1, 1000))
	size := decoder.Bytes(events)
	steady := &steady{from: decoder.Stream(events), free: t.Held * size, rate: float64(t.Rate * size)}
	kept := decoder.Run(steady, t.Held+t.Events, t.Held)
	after := now()
	before := steady.before
	took := after.clock.Sub(before.clock).Seconds()
	heap := measure.Heap()
	runtime.KeepAlive(kept)
	return result{
		Share:       (after.collector - before.collector) / max(after.collector+after.program-before.collector-before.program, 1e-9),
		CPU:         float64((after.processor - before.processor).Microseconds()) / float64(t.Events),
		Rate:        float64(t.Events) / took,
		Collections: after.collections - before.collections,
		Pause:       after.longestPause(before) * 1e6,
		Allocated:   (after.allocated - before.allocated) / took / 1e6,
		Heap:        heap / 1e6,
	}
}

// steady gives some bytes at once, and from then on so many a second.
type steady struct {
	from   io.Reader
	free   int     // what is still given at once
	rate   float64 // bytes a second
	given  float64 // of those
	before figures // when that began
}

func (s *steady) Read(p []byte) (int, error) {
	if s.free > 0 {
		n, err := s.from.Read(p[:min(len(p), s.free)])
		s.free -= n
		return n, err
	}
	if s.given == 0 {
		runtime.GC() // what was allocated before is none of what is measured
		s.before = now()
	}
	time.Sleep(time.Until(s.before.clock.Add(time.Duration(s.given / s.rate * 1e9))))
	n, err := s.from.Read(p)
	s.given += float64(n)
	return n, err
}
