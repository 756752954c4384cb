// Command decode measures the cost of decoding a watch event of a 6.5 kB Pod. It prints the CPU time, including garbage
// collection, and the allocations per event.
//
// Each library decodes events in the same way as in its watches. The last 1,000 decoded objects stay reachable, so that
// the garbage collector has as much work as in a program with a store.
package main

import (
	"context"
	"flag"
	"os"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/decoders"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

var (
	rounds = flag.Int("rounds", 15, "number of rounds; the median is printed")
	turn   = flag.Duration("turn", 150*time.Millisecond, "approximate run time of each decoder per round")
)

const held = 1000

// contender is a decoder and its measurements, one per round.
type contender struct {
	decoders.Decoder
	events                 int // events to decode per round
	ns, allocations, ratio []float64
}

func main() { harness.Main("decode", compare) }

func compare(context.Context) error {
	if *harness.Short {
		*rounds, *turn = 1, time.Millisecond
	}
	events := decoders.NewEvents(sample.Pods(7, held))
	var contenders []*contender
	for _, decoder := range decoders.All() {
		ns, _ := once(decoder, events, held) // also warms up the decoder
		n := max(int(float64(turn.Nanoseconds())/ns), 100)
		contenders = append(contenders, &contender{Decoder: decoder, events: n})
	}
	name := func(c *contender) string { return c.Name }
	err := harness.Rounds(*rounds, contenders, name, func(c *contender) error {
		ns, allocations := once(c.Decoder, events, c.events)
		c.ns, c.allocations = append(c.ns, ns), append(c.allocations, allocations)
		c.ratio = append(c.ratio, ns/contenders[0].ns[len(c.ns)-1])
		return nil
	})
	if err != nil {
		return err
	}
	return printAll(contenders, events)
}

// once decodes n events. It returns the CPU time in nanoseconds and the number of allocations, both per event.
func once(decoder decoders.Decoder, events *decoders.Events, n int) (ns, allocations float64) {
	stream := decoder.Stream(events)
	before := harness.Allocations()
	ns = harness.CPUPer(n, func() { runtime.KeepAlive(decoder.Run(stream, n, held)) })
	return ns, (harness.Allocations() - before) / float64(n)
}

func printAll(contenders []*contender, events *decoders.Events) error {
	results := published.Results{}
	table := harness.NewTable(os.Stdout, "event\tbytes\tµs\tallocations\tratio")
	for _, c := range contenders {
		ns, allocations, ratio := harness.Median(c.ns), harness.Median(c.allocations), harness.Median(c.ratio)
		table.Row("%s\t%d\t%.1f\t%.1f\t%.2f", c.Name, c.EventSize(events), ns/1000, allocations, ratio)
		results.Set("CPU time", c.Name, ns/1000)
		results.Set("allocations", c.Name, allocations)
		if c.Name == decoders.Floor {
			results.Set("CPU time", "lw.RawCodec to baseline", 1/ratio)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return harness.Save("decode", results)
}
