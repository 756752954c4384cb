package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// The graph is 720 by 320 pixels. Its axes begin at (60, 270), at the bottom left, and end at (700, 50). Each axis has
// five marks after 0.
const marks = 5

// writeGraph writes an SVG file that shows the RSS of both contenders over time.
func writeGraph(path, title string, samples map[string][]sample) error {
	var seconds, megabytes float64
	for _, all := range samples {
		for _, s := range all {
			seconds, megabytes = max(seconds, s.Seconds), max(megabytes, s.RSS/1e6)
		}
	}
	xStep, yStep := 10*math.Ceil(seconds/marks/10), 10*math.Ceil(megabytes/marks/10) // marks are at multiples of ten
	x := func(seconds float64) float64 { return 60 + 640*seconds/(marks*xStep) }
	y := func(megabytes float64) float64 { return 270 - 220*megabytes/(marks*yStep) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 320" font-family="sans-serif" font-size="13" fill="#808080">
<title>%s</title>
<text x="4" y="20">RSS, MB</text>
<text x="700" y="312" text-anchor="end">seconds since the start</text>
`, title)
	for i := range marks + 1 {
		s, mb := float64(i)*xStep, float64(i)*yStep
		fmt.Fprintf(&b, `<path d="M60 %.0fH700" stroke="#808080" stroke-opacity=".3"/>`+"\n", y(mb))
		fmt.Fprintf(&b, `<text x="52" y="%.0f" text-anchor="end">%.0f</text>`+"\n", y(mb)+4, mb)
		fmt.Fprintf(&b, `<text x="%.0f" y="290" text-anchor="middle">%.0f</text>`+"\n", x(s), s)
	}
	for i, contender := range contenders {
		color := []string{"#d6542a", "#2a78d6"}[i]
		fmt.Fprintf(&b, `<text x="%d" y="20" fill="%s">%s</text>`+"\n", 160+i*250, color, contender)
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, color)
		for _, s := range samples[contender] {
			fmt.Fprintf(&b, "%.0f,%.0f ", x(s.Seconds), y(s.RSS/1e6))
		}
		b.WriteString("\"/>\n")
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
