package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes of text in pixels.
const (
	noteSize  = 12.5
	panelSize = 13
	nameSize  = 12.5
	tickSize  = 11.5
)

// textWidth is about how wide a text is: fonts differ.
func textWidth(text string, size float64) float64 {
	return float64(utf8.RuneCountInString(text)) * size * 0.56
}

// wrap breaks a text into lines that are not wider than they may be; none for an empty text.
func wrap(text string, width, size float64) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last >= 0 && textWidth(lines[last]+" "+word, size) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// style has a background of its own, so that nothing depends on the page's.
const style = `
.card{fill:#fff;stroke:#d8dde3}
.title{font-size:17px;font-weight:600;fill:#1b2128}
.panel{font-size:13px;font-weight:600;fill:#1b2128}
.note,.label,.tick{font-size:11.5px;fill:#57606a}
.note{font-size:12.5px}
.grid{stroke:#e6e9ed}
.axis{stroke:#8c959f}
.name{font-size:12.5px;font-weight:500}
.line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
.dashed{stroke-width:1.6;stroke-dasharray:2 5}
.c0{stroke:#0b6fb8}.name.c0,.dot.c0{fill:#0b6fb8;stroke:none}
.c1{stroke:#bf5a0b}.name.c1,.dot.c1{fill:#bf5a0b;stroke:none}
.c2{stroke:#1a7f4b}.name.c2,.dot.c2{fill:#1a7f4b;stroke:none}
.c3{stroke:#8a4bb5}.name.c3,.dot.c3{fill:#8a4bb5;stroke:none}
.c4{stroke:#7a838d}.name.c4,.dot.c4{fill:#6b747d;stroke:none}
@media (prefers-color-scheme:dark){
.card{fill:#12161c;stroke:#2c333c}
.title,.panel{fill:#e8edf2}
.note,.label,.tick{fill:#9aa5b1}
.grid{stroke:#252c35}
.axis{stroke:#66707b}
.c0{stroke:#58b0f5}.name.c0,.dot.c0{fill:#58b0f5}
.c1{stroke:#f29a4a}.name.c1,.dot.c1{fill:#f29a4a}
.c2{stroke:#4cc38a}.name.c2,.dot.c2{fill:#4cc38a}
.c3{stroke:#c497ea}.name.c3,.dot.c3{fill:#c497ea}
.c4{stroke:#828d98}.name.c4,.dot.c4{fill:#98a3ae}
}
`

func (c Colour) class() string { return fmt.Sprintf("c%d", int(c)) }

// drawing is an SVG that is being written.
type drawing struct{ *bytes.Buffer }

func (d *drawing) begin(width, height int, title string) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `, width, height, width, height)
	fmt.Fprintf(d, "font-family=\"system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif\">\n<title>%s</title>\n<style>%s</style>\n",
		html.EscapeString(title), style)
	fmt.Fprintf(d, `<rect class="card" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
}

func (d *drawing) end() { d.WriteString("</svg>\n") }

func (d *drawing) text(x, y float64, class, anchor, text string) {
	if text != "" {
		fmt.Fprintf(d, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`+"\n", place(x), place(y), class, anchor, html.EscapeString(text))
	}
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<path d="M%s %sL%s %s" class="%s"/>`+"\n", place(x1), place(y1), place(x2), place(y2), class)
}

// path draws a line with a dot at each measurement.
func (d *drawing) path(line Line, points []Point) {
	if len(points) == 0 {
		return
	}
	var way []string
	for _, point := range points {
		way = append(way, place(point.X)+" "+place(point.Y))
	}
	class := "line " + line.Colour.class()
	if line.Dashed {
		class += " dashed"
	}
	fmt.Fprintf(d, `<path d="M%s" class="%s"/>`+"\n", strings.Join(way, "L"), class)
	for _, point := range points {
		if !line.Dashed {
			fmt.Fprintf(d, `<circle cx="%s" cy="%s" r="3" class="dot %s"/>`+"\n", place(point.X), place(point.Y), line.Colour.class())
		}
	}
}

// place rounds to a tenth of a pixel.
func place(at float64) string { return strconv.FormatFloat(math.Round(at*10)/10, 'f', -1, 64) }

// spread moves places apart that are closer than distance, as little as need be, and keeps them within two bounds.
func spread(places []float64, distance, top, bottom float64) []float64 {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	moved := slices.Clone(places)
	for range 100 { // each round halves what is missing between neighbours
		for i := 1; i < len(order); i++ {
			above, below := order[i-1], order[i]
			if missing := distance - (moved[below] - moved[above]); missing > 0 {
				moved[above] -= missing / 2
				moved[below] += missing / 2
			}
		}
		for _, i := range order {
			moved[i] = min(max(moved[i], top), bottom)
		}
	}
	return moved
}
