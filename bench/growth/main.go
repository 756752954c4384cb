// Growth measures how costs grow with what there is: objects in a store, watches, handlers, indexes, the size of an object.
// For each it prints what one unit of work costs by how much there is, beside client-go, and judges whether that grows: whether
// a unit costs more where there is the most than where there is less, by more than the machine itself takes longer for
// memory that fits into no cache, which is measured as well. With -images it draws a picture of each.
//
// Each figure is of a process of its own; the processor time is user and system time, its collector's included.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/bench/internal/informers"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

var (
	only   = flag.String("only", "", "the dimensions that are measured, as objects,sizes; all if empty")
	rounds = flag.Int("rounds", 3, "how often all is measured, in turns; the medians are told")
	images = flag.String("images", "", "a folder for pictures, growth-objects.svg and so on; none are drawn if empty")
	short  = flag.Bool("short", false, "little work, only to see that all works")
)

var dimensions = []dimension{objects, watches, handlers, indexes, sizes}

func main() {
	if informers.Worker() || measure.Worker("measure", run) {
		return
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, d := range dimensions {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), d.name) {
			continue
		}
		found, err := d.measure(ctx)
		if err == nil {
			err = found.tell(os.Stdout)
		}
		if err == nil && *images != "" {
			err = found.figure().Write(*images, "growth-"+d.name+".svg")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "growth:", err)
			os.Exit(1)
		}
	}
}

// run carries out a task, in its process.
func run(t task) result {
	d := dimensions[slices.IndexFunc(dimensions, func(d dimension) bool { return d.name == t.Dimension })]
	r := d.run(t)
	r.Machine = d.machine.cost(t, r)
	return r
}

// measure measures a dimension, in turns.
func (d dimension) measure(ctx context.Context) (*findings, error) {
	inputs, times := d.inputs, *rounds
	if *short {
		inputs, times = d.few, 1
	}
	found := &findings{dimension: d, costs: map[place][]measured{}, machines: map[place][]float64{}}
	for round := range times {
		for _, input := range inputs {
			for _, contender := range stores.Names {
				fmt.Fprintf(os.Stderr, "round %d of %d: %d %s, %s\n", round+1, times, input, d.axis, contender)
				t := task{d.name, contender, input, *short}
				var r result
				if err := measure.Apart(ctx, "measure", t, &r); err != nil {
					return nil, err
				}
				found.add(t, r)
			}
		}
	}
	return found, nil
}
