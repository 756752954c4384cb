package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/wasm/operations"
)

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

// row prints a figure: its wall time at each place, and its CPU time in Node.
func (r *results) row(table harness.Table, format, title string, figure func(times map[cell]float64, place string) float64) {
	show := func(times map[cell]float64, place string) {
		value := ""
		if f := figure(times, place); f < 1e9 { // it is infinite if it was not measured
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
