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
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

const (
	listwatch = "listwatch"
	plain     = "plain JavaScript"
)

// contender is a row of the tables. program is empty for plain JavaScript.
type contender struct{ name, program string }

var contenders = []contender{{listwatch, program}, {name: plain}}

// course is a workload. name is its name in page/world.mjs, and data is the path of its input.
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
	warmUp  = 3 // passes that warm up the compilers and are not measured
	maxWait = 5 * time.Minute
)

// measurement identifies a workload, the contender that runs it, and the place: Node or a browser.
type measurement struct {
	course
	contender
	place
}

// String implements fmt.Stringer for progress and error messages.
func (m measurement) String() string {
	return m.course.name + ", " + m.contender.name + ", " + m.place.name
}

// measurements returns one measurement for each combination of workload, place and contender.
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

// cell identifies a number in the tables.
type cell struct{ figure, contender, place string }

// results contains the times of the fastest passes of all rounds.
type results struct {
	places     []place
	bytes      map[string]int   // size of each input file in bytes
	times      map[cell]float64 // time of the fastest pass in milliseconds
	operations []string
}

func newResults(places []place, data map[string][]byte) *results {
	r := &results{places: places, bytes: map[string]int{}, times: map[cell]float64{}}
	for name, content := range data {
		r.bytes[name] = len(content)
	}
	return r
}

// measure runs m and keeps the fastest pass, because other processes can only slow a pass down.
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

func (r *results) print(to io.Writer) error {
	if err := r.printSpeed(to); err != nil {
		return err
	}
	return r.printOperations(to)
}

// published returns the speeds in MB/s.
func (r *results) published() published.Results {
	all := published.Results{}
	for _, course := range decoding {
		for _, contender := range contenders {
			for _, at := range r.places {
				speed := float64(r.bytes[course.data]) / 1e3 / r.times[cell{course.name, contender.name, at.name}]
				all.Set(course.name, contender.name+", "+at.name, speed)
			}
		}
	}
	return all
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
