package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/wasm/operations"
)

func (r *results) print(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "MB/s")
	for _, at := range r.places {
		fmt.Fprintf(w, "\t%s", at.name)
	}
	fmt.Fprintln(w, "\tNode, of processor time")
	for _, course := range courses {
		size := float64(r.bytes[course.data])
		fmt.Fprintf(w, "%s: %.1f MB\n", course.title, size/1e6)
		speed := func(times map[cell]float64, contender, place string) float64 {
			return size / 1e3 / times[cell{course.name, contender, place}]
		}
		r.row(w, "%.2f", "  "+ours+" / "+plain, func(times map[cell]float64, place string) float64 {
			return speed(times, ours, place) / speed(times, plain, place)
		})
		for _, contender := range contenders {
			if contender.only != "" && contender.only != course.name {
				continue
			}
			r.row(w, "%.0f", "  "+contender.name, func(times map[cell]float64, place string) float64 {
				return speed(times, contender.name, place)
			})
		}
	}
	w.Flush()
	r.printOperations(to)
}

// row prints a figure at each place, by the clock, and that of the processor.
func (r *results) row(w io.Writer, format, title string, figure func(times map[cell]float64, place string) float64) {
	fmt.Fprint(w, title)
	show := func(times map[cell]float64, place string) {
		value := "" // what was not measured took no time
		if f := figure(times, place); f < 1e9 {
			value = fmt.Sprintf(format, f)
		}
		fmt.Fprint(w, "\t", value)
	}
	for _, at := range r.places {
		show(r.clock, at.name)
	}
	show(r.used, r.places[0].name)
	fmt.Fprintln(w)
}

func (r *results) printOperations(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nns an operation, of %d objects\tnatively", operations.Objects)
	for _, at := range r.places {
		fmt.Fprintf(w, "\t%s\tMaps", at.name)
	}
	fmt.Fprintln(w)
	for _, work := range r.works {
		ns := func(contender, place string) float64 {
			return r.clock[cell{work, contender, place}] * 1e6 / operations.Objects
		}
		fmt.Fprintf(w, "%s\t%.0f", work, ns("natively", ""))
		for _, at := range r.places {
			fmt.Fprintf(w, "\t%.0f\t%.0f", ns(ours, at.name), ns(plain, at.name))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

func printMemory(to io.Writer, mine, others map[string]float64, text int) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nbytes a Pod, of %d in Node, without managedFields\n", *held)
	for _, row := range []struct {
		title string
		bytes float64
	}{
		{ours + ", in use", mine["in use"]},
		{ours + ", by which WebAssembly's memory grew", mine["memory"]},
		{plain + ", in use", others["in use"]},
		{plain + ", by which the heap grew", others["memory"]},
		{"its text in the list, with managedFields", float64(text)},
	} {
		fmt.Fprintf(w, "%s\t%.0f\n", row.title, row.bytes/float64(*held))
	}
	w.Flush()
}
