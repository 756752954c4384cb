// Package plot draws the figures of docs/performance.md: small SVGs of one or several panels with lines, in the colours of
// whoever looks at them, light or dark. Lines bear their names at their ends, so that no legend is needed.
package plot

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
)

// Figure is one image.
type Figure struct {
	Title   string
	Note    string // beneath the title: what the axes are, or how it was measured
	Columns int    // of panels; 1 if zero
	Panels  []Panel
}

// Panel is one pair of axes with its lines.
type Panel struct {
	Title string // may be empty if there is one panel only
	X, Y  Axis
	Lines []Line
}

// Axis is a scale with labelled ticks.
type Axis struct {
	Label    string // what is counted; its unit is in the ticks
	Unit     Unit
	Linear   bool    // from zero; else logarithmic
	Min, Max float64 // at least what is shown; zero: what the points need
}

// Line is a series of points, by ascending X. Those that an axis cannot show, as a zero on a logarithmic one, are left out.
type Line struct {
	Name   string // at the line's end
	Colour Colour
	Dashed bool // for what is no measurement of a program: a bound, a baseline
	Points []Point
}

// Point is one measurement.
type Point struct{ X, Y float64 }

// Colour says whose line it is, the same in all figures.
type Colour int

// The colours.
const (
	Ours Colour = iota
	Theirs
	Third
	Fourth
	Muted // for baselines
)

// Write writes the figure as an SVG file.
func (f Figure) Write(folder, name string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), f.SVG(), 0o644)
}

// Sizes in pixels of a figure's own; it is shown scaled.
const (
	figureWidth = 880
	panelHeight = 256
	smallHeight = 218 // of a panel, if there are more than two side by side
	margin      = 20  // around all
	gutter      = 26  // between panels
	titleHeight = 38
	noteHeight  = 18 // of a line
)

// SVG returns the figure.
func (f Figure) SVG() []byte {
	columns := max(f.Columns, 1)
	rows := (len(f.Panels) + columns - 1) / columns
	notes := wrap(f.Note, figureWidth-2*margin, noteSize)
	top := margin + titleHeight + len(notes)*noteHeight
	tall := panelHeight
	if columns > 2 {
		tall = smallHeight
	}
	height := top + rows*tall + (rows-1)*gutter + margin
	width := (figureWidth - 2*margin - (columns-1)*gutter) / columns
	d := &drawing{Buffer: new(bytes.Buffer)}
	d.begin(figureWidth, height, f.Title)
	d.text(margin, margin+16, "title", "start", f.Title)
	for i, note := range notes {
		d.text(margin, float64(margin+20+(i+1)*noteHeight), "note", "start", note)
	}
	for i, panel := range f.Panels {
		x, y := margin+i%columns*(width+gutter), top+i/columns*(tall+gutter)
		panel.draw(d, box{float64(x), float64(y), float64(x + width), float64(y + tall)})
	}
	d.end()
	return d.Bytes()
}

// box is a part of the figure.
type box struct{ left, top, right, bottom float64 }

const (
	tickLength = 4
	besideTick = 6  // between a tick and its label
	underAxis  = 18 // from the axis to its ticks' labels
	afterLine  = 9  // between a line's end and its name
	titleSpace = 30 // above the axes: the panel's title or the Y axis' label
	labelSpace = 40 // below the axes: ticks and label
)

func (p Panel) draw(d *drawing, in box) {
	x, y := p.scales()
	yTicks := y.ticks(int((in.bottom - in.top) / 38))
	names := p.names()
	axes := box{left: in.left, top: in.top + titleSpace, right: in.right - names, bottom: in.bottom - labelSpace}
	widest := 0.0
	for _, tick := range yTicks {
		widest = math.Max(widest, textWidth(p.Y.Unit.Format(tick), tickSize))
	}
	axes.left += widest + besideTick + tickLength
	x.from, x.to = axes.left, axes.right
	y.from, y.to = axes.bottom, axes.top
	d.text(in.left, in.top+12, "panel", "start", p.Title)
	if p.Y.Label != "" {
		after := in.left
		if p.Title != "" {
			after += textWidth(p.Title, panelSize) + 12
		}
		d.text(after, in.top+12, "label", "start", p.Y.Label)
	}
	for _, tick := range yTicks {
		at := y.place(tick)
		d.line(axes.left, at, axes.right, at, "grid")
		d.text(axes.left-besideTick, at+4, "tick", "end", p.Y.Unit.Format(tick))
	}
	d.line(axes.left, axes.bottom, axes.right, axes.bottom, "axis")
	p.drawX(d, x, axes)
	p.drawLines(d, x, y, axes)
}

// drawX draws the ticks of the X axis, as many as have room side by side.
func (p Panel) drawX(d *drawing, x scale, axes box) {
	beyond := math.Inf(-1) // where the last label ends
	for _, tick := range x.ticks(int((axes.right - axes.left) / 45)) {
		at, label := x.place(tick), p.X.Unit.Format(tick)
		d.line(at, axes.bottom, at, axes.bottom+tickLength, "axis")
		if half := textWidth(label, tickSize) / 2; at-half > beyond {
			d.text(at, axes.bottom+underAxis, "tick", "middle", label)
			beyond = at + half + besideTick
		}
	}
	d.text((axes.left+axes.right)/2, axes.bottom+labelSpace-4, "label", "middle", p.X.Label)
}

// drawLines draws each line, and its name where it ends.
func (p Panel) drawLines(d *drawing, x, y scale, axes box) {
	var named []Line
	var ends []Point
	for _, line := range p.Lines {
		if points := line.shown(x, y); len(points) > 0 {
			d.path(line, points)
			named, ends = append(named, line), append(ends, points[len(points)-1])
		}
	}
	heights := make([]float64, len(ends))
	for i, end := range ends {
		heights[i] = end.Y
	}
	for i, at := range spread(heights, nameSize+2, axes.top, axes.bottom) {
		d.text(ends[i].X+afterLine, at+4, "name "+named[i].Colour.class(), "start", named[i].Name)
	}
}

// shown are the points that the axes can show, as places in the figure.
func (l Line) shown(x, y scale) []Point {
	var places []Point
	for _, point := range l.Points {
		if x.shows(point.X) && y.shows(point.Y) {
			places = append(places, Point{x.place(point.X), y.place(point.Y)})
		}
	}
	return places
}

// names returns how much room the lines' names need.
func (p Panel) names() float64 {
	widest := 0.0
	for _, line := range p.Lines {
		widest = math.Max(widest, textWidth(line.Name, nameSize))
	}
	return widest + afterLine + 2
}

// scales returns scales that hold all points.
func (p Panel) scales() (x, y scale) {
	var xs, ys []float64
	for _, line := range p.Lines {
		for _, point := range line.Points {
			xs, ys = append(xs, point.X), append(ys, point.Y)
		}
	}
	x, y = p.X.scale(xs), p.Y.scale(ys)
	y.round()
	return x, y
}
