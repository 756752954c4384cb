package main

import (
	"cmp"
	"slices"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
)

// dimension is something that there can be more and more of.
type dimension struct {
	name    string // also the picture's
	title   string // of the picture: what is on its axes
	note    string
	axis    string // what is counted
	unit    plot.Unit
	inputs  []int
	few     []int // the same with little work
	works   []work
	run     func(task) result
	machine machine
	columns int // of the picture
}

// machine is what the machine itself takes in ns for one of what the works' touches count.
type machine struct {
	cost       func(task, result) float64
	name, line string // what that is, and the same beside a line
}

// work is what is measured of a dimension: what one unit costs.
type work struct {
	name string
	unit plot.Unit
	// touches are how many places in memory one unit reads at most that are not near one another, and that it did not read
	// just before: counted in our code. What the collector does for a unit comes to it, see measured. For sizes they are how
	// often each byte is moved.
	touches float64
}

// task is what one process measures.
type task struct {
	Dimension, Contender string
	Input                int
	Short                bool
}

// result is what came of it.
type result struct {
	Costs   map[string]measured // by work
	Bytes   float64             // of memory that were in use meanwhile
	Machine float64             // see dimension
}

// measured is what one unit of a work costs. Marked is how many objects the collector looks at because of what the unit
// allocates: as a collection comes when as much was allocated as is in use, those of as many bytes.
type measured struct{ Cost, Marked float64 }

// findings are all results of a dimension.
type findings struct {
	dimension
	costs    map[place][]measured
	machines map[place][]float64 // without a work's name
}

type place struct {
	work, contender string
	input           int
}

func (f *findings) add(t task, r result) {
	for work, cost := range r.Costs {
		at := place{work, t.Contender, t.Input}
		f.costs[at] = append(f.costs[at], cost)
	}
	at := place{"", t.Contender, t.Input}
	f.machines[at] = append(f.machines[at], r.Machine)
}

// series returns the medians of a contender's work; no points if it was not measured.
func (f *findings) series(w work, contender string) (s series) {
	for at, all := range f.costs {
		if at.work != w.name || at.contender != contender {
			continue
		}
		p := point{
			input: float64(at.input), cost: median(all, measured.cost), touches: w.touches,
			machine: measure.Median(f.machines[place{"", contender, at.input}]),
		}
		if w.unit == plot.Nanoseconds {
			p.touches += median(all, measured.marked)
		}
		s.points = append(s.points, p)
	}
	sortPoints(s.points)
	return s
}

func (m measured) cost() float64   { return m.Cost }
func (m measured) marked() float64 { return m.Marked }

func median(all []measured, of func(measured) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	return measure.Median(values)
}

func sortPoints(points []point) {
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.input, b.input) })
}
