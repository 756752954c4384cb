package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// Size of the graph and its margins, in pixels.
const (
	width, height            = 720, 320
	left, right, top, bottom = 60, 20, 50, 50
)

// line is a named curve of the graph.
type line struct {
	name, color string
	samples     []sample
}

// axis ranges from zero to end and has a mark at every multiple of step.
type axis struct{ end, step float64 }

// newAxis returns an axis that includes the value last. It has five marks above zero, at multiples of ten.
func newAxis(last float64) axis {
	step := 10 * math.Ceil(last/50)
	return axis{5 * step, step}
}

// x and y convert a value to a position in pixels.
func (a axis) x(value float64) float64 { return left + value/a.end*(width-left-right) }
func (a axis) y(value float64) float64 { return height - bottom - value/a.end*(height-top-bottom) }

// writeGraph writes an SVG file that shows the RSS of each line over time.
func writeGraph(path, title string, lines ...line) error {
	var seconds, megabytes float64
	for _, l := range lines {
		for _, s := range l.samples {
			seconds, megabytes = max(seconds, s.Seconds), max(megabytes, s.RSS/1e6)
		}
	}
	across, up := newAxis(seconds), newAxis(megabytes)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" fill="#808080">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", title)
	for value := 0.0; value <= up.end; value += up.step {
		fmt.Fprintf(&b, `<path d="M%d %.0fH%d" stroke="#808080" stroke-opacity=".3"/>`+"\n", left, up.y(value), width-right)
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" text-anchor="end">%.0f</text>`+"\n", left-8, up.y(value)+4, value)
	}
	for value := 0.0; value <= across.end; value += across.step {
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%.0f</text>`+"\n", across.x(value), height-bottom+20, value)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">RSS, MB</text>`+"\n", 4, 20)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">seconds since the start</text>`+"\n", width-right, height-8)
	for i, l := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="20" fill="%s">%s</text>`+"\n", 160+i*200, l.color, l.name)
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", l.color, points(l.samples, across, up))
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// points returns the points of an SVG polyline. If several samples fall on the same horizontal pixel, it uses only
// the first.
func points(samples []sample, across, up axis) string {
	var all []string
	last := -1.0
	for _, s := range samples {
		if x := math.Round(across.x(s.Seconds)); x != last {
			all = append(all, fmt.Sprintf("%.0f,%.0f", x, up.y(s.RSS/1e6)))
			last = x
		}
	}
	return strings.Join(all, " ")
}
