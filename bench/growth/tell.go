package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

// tell prints a table: a line for each work and contender, a column for each input, and whether the cost holds.
func (f *findings) tell(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\n"+f.title+" ("+f.note+")")
	f.row(w, f.axis, "", f.series(f.works[0], stores.Names[0]), func(p point) string { return f.unit.Format(p.input) }, "")
	for _, work := range f.works {
		for _, contender := range stores.Names {
			if s := f.series(work, contender); len(s.points) > 0 {
				f.row(w, work.name, contender, s, func(p point) string { return work.unit.Format(p.cost) }, s.said(work.unit))
			}
		}
	}
	f.row(w, "one random access to memory", "", f.series(f.works[0], stores.Names[0]), func(p point) string {
		return plot.Nanoseconds.Format(p.latency)
	}, "")
	return w.Flush()
}

func (f *findings) row(w io.Writer, name, contender string, s series, cell func(point) string, said string) {
	fmt.Fprintf(w, "| %s\t| %s", name, contender)
	for _, p := range s.points {
		fmt.Fprintf(w, "\t| %s", cell(p))
	}
	fmt.Fprintf(w, "\t| %s\t|\n", said)
}

// said says how a series was judged, if there was work enough for that.
func (s series) said(unit plot.Unit) string {
	if *short {
		return ""
	}
	v := s.judge()
	said := fmt.Sprintf("× %.2f, at most %s: ", v.growth, unit.Format(v.allowed))
	if v.holds {
		return said + "holds"
	}
	return said + "grows"
}

// figure is the same as a picture.
func (f *findings) figure() plot.Figure {
	figure := plot.Figure{Title: f.title, Note: f.note, Columns: min(len(f.works), 2)}
	for _, work := range f.works {
		panel := plot.Panel{Title: work.name, X: plot.Axis{Label: f.axis, Unit: f.unit}, Y: plot.Axis{Unit: work.unit}}
		for i, contender := range stores.Names {
			if s := f.series(work, contender); len(s.points) > 0 {
				panel.Lines = append(panel.Lines, plot.Line{Name: contender, Colour: plot.Colour(i), Points: s.line(point.costs)})
			}
		}
		if s := f.series(work, stores.Names[0]); work.unit == plot.Nanoseconds {
			panel.Lines = append(panel.Lines, plot.Line{Name: "memory", Colour: plot.Muted, Dashed: true, Points: s.line(point.latencies)})
		}
		figure.Panels = append(figure.Panels, panel)
	}
	return figure
}

func (p point) costs() float64     { return p.cost }
func (p point) latencies() float64 { return p.latency }

func (s series) line(y func(point) float64) (points []plot.Point) {
	for _, p := range s.points {
		points = append(points, plot.Point{X: p.input, Y: y(p)})
	}
	return points
}
