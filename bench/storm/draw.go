package main

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
)

// drawn is how long one point of the plot stands for.
const drawn = 200 * time.Millisecond

// draw writes the plot of what comes while a server is away, and after it.
func draw(folder string, of sizes) error {
	const shown = 25 * time.Second
	figure := plot.Figure{
		Title: "Requests at a server that is away for 10 s", Columns: 2,
		Note: "1,000 clients, the library's delays; connections that are refused count, too",
	}
	for _, noJitter := range []bool{false, true} {
		panel := plot.Panel{
			Title: map[bool]string{false: "as it is", true: "without jitter"}[noJitter],
			X:     plot.Axis{Label: "seconds after the watches broke", Linear: true, Max: shown.Seconds()},
			Y:     plot.Axis{Label: "requests in 0.2 s", Linear: true},
		}
		s := scenario{running: true, happens: away(10*time.Second, false), noJitter: noJitter}
		panel.Lines = []plot.Line{{Points: over(play(s, *clients, *pods, of, *seed).arrivals, shown)}}
		figure.Panels = append(figure.Panels, panel)
	}
	return figure.Write(folder, "storm.svg")
}

// over counts arrivals over time.
func over(arrivals []moment, shown time.Duration) []plot.Point {
	points := make([]plot.Point, shown/drawn)
	for i := range points {
		points[i].X = (time.Duration(i) * drawn).Seconds()
	}
	for _, one := range arrivals {
		if one.at < shown {
			points[one.at/drawn].Y++
		}
	}
	return points
}
