package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/wasm/operations"
)

// where is a place by its name.
type where struct {
	name string
	do   place
}

const (
	ours  = "listwatch"
	plain = "plain JavaScript"
)

// contenders, by what is printed.
var contenders = []struct {
	name, program string
	only          string // the one course that it does; all if empty
	inNode        bool   // and nowhere else
}{
	{name: ours, program: asProduct},
	{name: "listwatch by go build", program: asGoBuild, inNode: true},
	{name: "json-iterator, maps", program: iterator, only: "decode", inNode: true},
	{name: plain},
}

// courses are those whose bytes are counted.
var courses = []struct{ name, data, title string }{
	{"decode", "events", "events, decoded"},
	{"store", "events", "events, decoded and stored with an index"},
	{"list", "list", "a list, decoded and stored with an index"},
}

const (
	warming  = 3 // passes that do not count
	patience = 5 * time.Minute
)

// cell is one figure of one contender at one place.
type cell struct{ figure, contender, place string }

// results are those of all rounds.
type results struct {
	places []where
	bytes  map[string]int   // of the data
	clock  map[cell]float64 // milliseconds
	used   map[cell]float64
	works  []string // of operations
}

func newResults(places []where, data map[string][]byte) *results {
	r := &results{places: places, bytes: map[string]int{}, clock: map[cell]float64{}, used: map[cell]float64{}}
	for name, content := range data {
		r.bytes[name] = len(content)
	}
	return r
}

// round measures everything once.
func (r *results) round(ctx context.Context) error {
	for _, course := range courses {
		if err := r.tasks(ctx, course.name, course.data); err != nil {
			return err
		}
	}
	if err := r.tasks(ctx, "operate", ""); err != nil {
		return err
	}
	r.native()
	return nil
}

// tasks does one course with every contender at every place.
func (r *results) tasks(ctx context.Context, course, data string) error {
	for i, at := range r.places {
		for _, contender := range contenders {
			if contender.inNode && (i > 0 || course == "operate") || contender.only != "" && contender.only != course {
				continue
			}
			told, err := at.try(ctx, task{Program: contender.program, Course: course, Data: data, Passes: *passes})
			if err != nil {
				return fmt.Errorf("%s, %s: %w", course, contender.name, err)
			}
			for figure, passes := range told.Figures {
				r.add(cell{figure, contender.name, at.name}, passes)
			}
		}
	}
	return nil
}

func (w where) try(ctx context.Context, t task) (*result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	told, err := w.do(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	return told, nil
}

// add notes the fastest pass of all rounds: others use the machine, too, and can only make one slower.
func (r *results) add(c cell, passes []pass) {
	for _, p := range passes[warming:] {
		if least, found := r.clock[c]; !found || p.MS < least {
			r.clock[c] = p.MS
		}
		if least, found := r.used[c]; !found || p.Processor < least {
			r.used[c] = p.Processor
		}
	}
}

// native does the operations here.
func (r *results) native() {
	found := map[string][]pass{}
	for range *passes {
		operations.Run(func(work string, do func()) {
			began := time.Now()
			do()
			found[work] = append(found[work], pass{MS: time.Since(began).Seconds() * 1000})
			if !slices.Contains(r.works, work) {
				r.works = append(r.works, work)
			}
		})
	}
	for work, passes := range found {
		r.add(cell{work, "natively", ""}, passes)
	}
}

// memory tells what a store with a list holds that was read three times, so that there was garbage, in Node, which tells what
// of JavaScript's heap is in use.
func (r *results) memory(ctx context.Context) error {
	hold := func(program string) (map[string]float64, error) {
		told, err := r.places[0].try(ctx, task{Program: program, Course: "hold", Data: "held", Passes: 3})
		if err != nil {
			return nil, err
		}
		return told.Told, nil
	}
	mine, err := hold(asProduct)
	if err != nil {
		return err
	}
	others, err := hold("")
	if err != nil {
		return err
	}
	printMemory(os.Stdout, mine, others, r.bytes["held"])
	return nil
}
