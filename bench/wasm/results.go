package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/wasm/operations"
)

const (
	listwatch = "listwatch"
	plain     = "plain JavaScript"
)

// contender is a program that is measured, in one row of the tables.
type contender struct{ name, program string }

var contenders = []contender{{listwatch, program}, {name: plain}}

// course is a workload with its name in page/world.mjs.
type course struct{ name, data, title string }

var (
	decoding = []course{
		{"decode", "events", "events, decoded"},
		{"store", "events", "events, decoded and stored with an index"},
		{"list", "list", "a list, decoded and stored with an index"},
	}
	operating = course{name: "operate"}
)

const (
	warmUp  = 3 // number of passes that are not measured
	maxWait = 5 * time.Minute
)

// measurement is one workload of one contender in Node or a browser.
type measurement struct {
	course
	contender
	place
}

// String returns a description for progress and error messages.
func (m measurement) String() string {
	return m.course.name + ", " + m.contender.name + ", " + m.place.name
}

// measurements returns all measurements of a round.
func measurements(places []place) (all []measurement) {
	for _, work := range append(slices.Clone(decoding), operating) {
		for _, at := range places {
			for _, one := range contenders {
				all = append(all, measurement{work, one, at})
			}
		}
	}
	return all
}

// cell identifies a result in the tables.
type cell struct{ figure, contender, place string }

// results contains the time of the fastest pass over all rounds.
type results struct {
	places     []place
	bytes      map[string]int   // size of each workload's input
	times      map[cell]float64 // time of each result in milliseconds
	operations []string
}

func newResults(places []place, data map[string][]byte) *results {
	r := &results{places: places, bytes: map[string]int{}, times: map[cell]float64{}}
	for name, content := range data {
		r.bytes[name] = len(content)
	}
	return r
}

// measure runs a measurement and keeps the time of the fastest pass, because other processes on the machine can only
// slow a pass down.
func (r *results) measure(ctx context.Context, m measurement) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	found, err := m.place.do(ctx, task{Program: m.program, Course: m.course.name, Data: m.data, Passes: *passes})
	if err != nil {
		return err
	}
	for figure, passes := range found.Figures {
		c := cell{figure, m.contender.name, m.place.name}
		least := slices.Min(passes[warmUp:])
		if before, found := r.times[c]; found {
			least = min(least, before)
		}
		r.times[c] = least
		if m.course == operating && !slices.Contains(r.operations, figure) {
			r.operations = append(r.operations, figure)
		}
	}
	return nil
}

// print prints all tables.
func (r *results) print(to io.Writer) error {
	if err := r.printSpeed(to); err != nil {
		return err
	}
	return r.printOperations(to)
}

func (r *results) printSpeed(to io.Writer) error {
	header := "MB/s"
	for _, at := range r.places {
		header += "\t" + at.name
	}
	table := harness.NewTable(to, header)
	for _, course := range decoding {
		size := float64(r.bytes[course.data])
		table.Row("%s: %.1f MB%s", course.title, size/1e6, strings.Repeat("\t", len(r.places)))
		for _, contender := range contenders {
			row := "  " + contender.name
			for _, at := range r.places {
				row += fmt.Sprintf("\t%.0f", size/1e3/r.times[cell{course.name, contender.name, at.name}])
			}
			table.Row("%s", row)
		}
	}
	return table.Flush()
}

func (r *results) printOperations(to io.Writer) error {
	header := fmt.Sprintf("\nns per operation, %d objects", operations.Objects)
	for _, at := range r.places {
		header += "\t" + at.name + "\tMaps"
	}
	table := harness.NewTable(to, header)
	slices.Sort(r.operations)
	for _, operation := range r.operations {
		row := operation
		for _, at := range r.places {
			for _, contender := range contenders {
				row += fmt.Sprintf("\t%.0f", r.times[cell{operation, contender.name, at.name}]*1e6/operations.Objects)
			}
		}
		table.Row("%s", row)
	}
	return table.Flush()
}
