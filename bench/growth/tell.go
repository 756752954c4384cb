package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

// tell prints a table: a line for each work and contender, a column for each input, and whether the cost holds.
func (f *findings) tell(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\n"+f.title+" ("+f.note+")")
	f.row(w, f.axis, "", f.series(f.works[0], stores.Names[0]), f.unit, point.inputs, "")
	for _, work := range f.works {
		for _, contender := range stores.Names {
			if s := f.series(work, contender); len(s.points) > 0 {
				f.row(w, work.name, contender, s, work.unit, point.costs, s.said(work.unit))
			}
		}
	}
	f.row(w, f.machine.name, "", f.series(f.works[0], stores.Names[0]), plot.Nanoseconds, point.machines, "")
	return w.Flush()
}

// row prints a cell for each input, empty if it was not measured.
func (f *findings) row(w io.Writer, name, contender string, s series, unit plot.Unit, of func(point) float64, said string) {
	fmt.Fprintf(w, "| %s\t| %s", name, contender)
	for _, p := range f.series(f.works[0], stores.Names[0]).points {
		cell := ""
		if i := slices.IndexFunc(s.points, func(q point) bool { return q.input == p.input }); i >= 0 {
			cell = unit.Format(of(s.points[i]))
		}
		fmt.Fprintf(w, "\t| %s", cell)
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
	figure := plot.Figure{Title: f.title, Note: f.note + "; dotted: " + f.machine.name, Columns: min(len(f.works), f.columns)}
	for _, work := range f.works {
		panel := plot.Panel{Title: work.name, X: plot.Axis{Label: f.axis, Unit: f.unit}, Y: plot.Axis{Unit: work.unit}}
		for i, contender := range stores.Names {
			if s := f.series(work, contender); len(s.points) > 0 {
				panel.Lines = append(panel.Lines, plot.Line{Name: contender, Colour: plot.Colour(i), Points: s.line(point.costs)})
			}
		}
		if s := f.series(work, stores.Names[0]); work.unit == plot.Nanoseconds {
			panel.Lines = append(panel.Lines, plot.Line{Name: f.machine.line, Colour: plot.Muted, Dashed: true, Points: s.line(point.machines)})
		}
		figure.Panels = append(figure.Panels, panel)
	}
	return figure
}

func (p point) inputs() float64   { return p.input }
func (p point) costs() float64    { return p.cost }
func (p point) machines() float64 { return p.machine }

func (s series) line(y func(point) float64) (points []plot.Point) {
	for _, p := range s.points {
		points = append(points, plot.Point{X: p.input, Y: y(p)})
	}
	return points
}
