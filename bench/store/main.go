// Store compares the store and its indexes with those of client-go. Both hold many objects, with an index by namespace and one by
// node. It prints the CPU time of each operation, including the garbage collector, and the ratio.
package main

import (
	"context"
	"flag"
	"os"
	"slices"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var (
	count  = flag.Int("objects", 100_000, "number of objects")
	rounds = flag.Int("rounds", 5, "number of rounds, whose medians are printed")
)

// contender is a kind of store with its results.
type contender struct {
	name     string
	newStore func() store
	times    times
}

func main() { harness.Main("store", compare) }

func compare(context.Context) error {
	if *harness.Short {
		*count, *rounds = 1000, 1
	}
	listwatch := &contender{name: "listwatch", newStore: newListwatch}
	clientGo := &contender{name: "client-go", newStore: newClientGo}
	name := func(c *contender) string { return c.name }
	err := harness.Rounds(*rounds, []*contender{clientGo, listwatch}, name, func(c *contender) error {
		newOperations(c.newStore(), &c.times, *count).run()
		return nil
	})
	if err != nil {
		return err
	}
	table := harness.NewTable(os.Stdout, "ns\tlistwatch\tclient-go\tratio")
	for _, operation := range listwatch.times.order {
		ours, theirs := harness.Median(listwatch.times.of[operation]), harness.Median(clientGo.times.of[operation])
		if theirs == 0 {
			table.Row("%s\t%.0f\t\t", operation, ours)
			continue
		}
		table.Row("%s\t%.0f\t%.0f\t%.2f", operation, ours, theirs, ours/theirs)
	}
	ours, theirs := bytesPerObject(newListwatch(), *count), bytesPerObject(newClientGo(), *count)
	table.Row("bytes of store per object\t%.1f\t%.1f\t%.2f", ours, theirs, ours/theirs)
	return table.Flush()
}

// times are the CPU times of operations in nanoseconds, one per round.
type times struct {
	order []string // operations, in the order of the first round
	of    map[string][]float64
}

func (t *times) add(operation string, ns float64) {
	if t.of == nil {
		t.of = map[string][]float64{}
	}
	if !slices.Contains(t.order, operation) {
		t.order = append(t.order, operation)
	}
	t.of[operation] = append(t.of[operation], ns)
}
