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

// contender is a row of the tables.
type contender struct {
	name, program string
	nodeOnly      bool
}

var contenders = []contender{
	{name: listwatch, program: asProduct},
	{name: "listwatch with go build", program: asGoBuild, nodeOnly: true},
	{name: plain},
}

// course is one part of the work, with its name in page/world.mjs.
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
	warmUp  = 3 // passes that do not count
	maxWait = 5 * time.Minute
)

// measurement is one course of one contender in one place.
type measurement struct {
	course
	contender
	place
}

// String names the measurement in messages.
func (m measurement) String() string {
	return m.course.name + ", " + m.contender.name + ", " + m.place.name
}

// measurements returns the measurements of a round.
func measurements(places []place) (all []measurement) {
	for _, work := range append(slices.Clone(decoding), operating) {
		for i, at := range places {
			for _, one := range contenders {
				if skipped := one.nodeOnly && (i > 0 || work == operating); !skipped {
					all = append(all, measurement{work, one, at})
				}
			}
		}
	}
	return append(all, measurement{operating, contenders[0], place{name: natively}})
}

// cell is one measured value of one contender in one place.
type cell struct{ figure, contender, place string }

// natively is the place of operations without WebAssembly.
const natively = "natively"

// results contains the fastest pass of all rounds.
type results struct {
	places     []place
	bytes      map[string]int   // size of the data
	wall, cpu  map[cell]float64 // milliseconds
	operations []string
}

func newResults(places []place, data map[string][]byte) *results {
	r := &results{places: places, bytes: map[string]int{}, wall: map[cell]float64{}, cpu: map[cell]float64{}}
	for name, content := range data {
		r.bytes[name] = len(content)
	}
	return r
}

func (r *results) measure(ctx context.Context, m measurement) error {
	if m.place.name == natively {
		r.operateNatively()
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	found, err := m.place.do(ctx, task{Program: m.program, Course: m.course.name, Data: m.data, Passes: *passes})
	if err != nil {
		return err
	}
	for figure, passes := range found.Figures {
		r.add(cell{figure, m.contender.name, m.place.name}, passes)
	}
	return nil
}

// add keeps the fastest pass, because other processes on the machine can only slow a pass down.
func (r *results) add(c cell, passes []pass) {
	keep := func(times map[cell]float64, ms float64) {
		if least, found := times[c]; !found || ms < least {
			times[c] = ms
		}
	}
	for _, p := range passes[warmUp:] {
		keep(r.wall, p.MS)
		keep(r.cpu, p.Processor)
	}
}

// operateNatively runs the operations in this process.
func (r *results) operateNatively() {
	found := map[string][]pass{}
	for range *passes {
		operations.Run(func(operation string, do func()) {
			began := time.Now()
			do()
			found[operation] = append(found[operation], pass{MS: time.Since(began).Seconds() * 1000})
			if !slices.Contains(r.operations, operation) {
				r.operations = append(r.operations, operation)
			}
		})
	}
	for operation, passes := range found {
		r.add(cell{operation, listwatch, natively}, passes)
	}
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
	table := harness.NewTable(to, header+"\tNode, CPU time")
	for _, course := range decoding {
		size := float64(r.bytes[course.data])
		table.Row("%s: %.1f MB%s", course.title, size/1e6, strings.Repeat("\t", len(r.places)+1))
		speed := func(times map[cell]float64, contender, place string) float64 {
			return size / 1e3 / times[cell{course.name, contender, place}]
		}
		r.row(table, "%.2f", "  "+listwatch+" / "+plain, func(times map[cell]float64, place string) float64 {
			return speed(times, listwatch, place) / speed(times, plain, place)
		})
		for _, contender := range contenders {
			r.row(table, "%.0f", "  "+contender.name, func(times map[cell]float64, place string) float64 {
				return speed(times, contender.name, place)
			})
		}
	}
	return table.Flush()
}

// row prints a measured value: its wall time in each place, and its CPU time in Node.
func (r *results) row(table harness.Table, format, title string, figure func(times map[cell]float64, place string) float64) {
	show := func(times map[cell]float64, place string) {
		value := ""
		if f := figure(times, place); f < 1e9 { // infinite if it was not measured
			value = fmt.Sprintf(format, f)
		}
		title += "\t" + value
	}
	for _, at := range r.places {
		show(r.wall, at.name)
	}
	show(r.cpu, r.places[0].name)
	table.Row("%s", title)
}

func (r *results) printOperations(to io.Writer) error {
	header := fmt.Sprintf("\nns per operation, %d objects\tnatively", operations.Objects)
	for _, at := range r.places {
		header += "\t" + at.name + "\tMaps"
	}
	table := harness.NewTable(to, header)
	for _, operation := range r.operations {
		ns := func(contender, place string) float64 {
			return r.wall[cell{operation, contender, place}] * 1e6 / operations.Objects
		}
		row := fmt.Sprintf("%s\t%.0f", operation, ns(listwatch, natively))
		for _, at := range r.places {
			row += fmt.Sprintf("\t%.0f\t%.0f", ns(listwatch, at.name), ns(plain, at.name))
		}
		table.Row("%s", row)
	}
	return table.Flush()
}
