// Store compares the store and its indexes with client-go's, at the same work in one run: many objects, with an index by
// namespace and one by node. It prints what an operation costs in processor time, the collector's included, and the ratio.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

var (
	objects = flag.Int("objects", 100_000, "how many there are")
	rounds  = flag.Int("rounds", 5, "how often all is measured, in turns; the medians are printed")
	short   = flag.Bool("short", false, "little work, only to see that all works")
)

func main() {
	flag.Parse()
	if *short {
		*objects, *rounds = 1000, 1
	}
	ours, theirs := &results{}, &results{}
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		course{c: empty("client-go"), results: theirs}.run(*objects)
		course{c: empty("listwatch"), results: ours}.run(*objects)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ns\tlistwatch\tclient-go\tratio")
	for _, work := range ours.order {
		mine, other := measure.Median(ours.times[work]), measure.Median(theirs.times[work])
		if other == 0 {
			fmt.Fprintf(w, "%s\t%.0f\n", work, mine)
			continue
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f\n", work, mine, other, mine/other)
	}
	mine, other := sizeOf(empty("listwatch"), *objects), sizeOf(empty("client-go"), *objects)
	fmt.Fprintf(w, "bytes of store an object\t%.1f\t%.1f\t%.2f\n", mine, other, mine/other)
	w.Flush()
}

// results are the times of one side, in ns, by what was done.
type results struct {
	order []string
	times map[string][]float64
}

func (r *results) add(work string, ns float64) {
	if r.times == nil {
		r.times = map[string][]float64{}
	}
	if !slices.Contains(r.order, work) {
		r.order = append(r.order, work)
	}
	r.times[work] = append(r.times[work], ns)
}
