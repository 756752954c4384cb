package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// later is when what all clients do at once at the time zero is over.
const later = 100 * time.Millisecond

// printAll prints a line for each scenario.
func printAll(to io.Writer, all []scenario, of []outcome) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\trequests\ton paper\trefused\tmost in 1 s\tin 10 ms\t… after 0.1 s\tMB\ton paper\tmost in 1 s\tmost at a time\thalf live after\tall live after")
	for i, s := range all {
		o := of[i]
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t%.0f\t%d\t%s\t%s\n", s.name,
			len(o.arrivals), paper(s, o.expectedRequests), o.refused,
			most(o.arrivals, time.Second), most(o.arrivals, 10*time.Millisecond), most(since(o.arrivals, later), 10*time.Millisecond),
			sum(o.sendings)/1e6, paper(s, o.expectedBytes/1e6), most(o.sendings, time.Second)/1e6,
			o.mostUnderWay, seconds(o.half), seconds(o.all))
	}
	return w.Flush()
}

func paper(s scenario, figure float64) string {
	if s.expected == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", figure)
}

func seconds(d time.Duration) string {
	if d >= until {
		return "never"
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
