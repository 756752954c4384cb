package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// later excludes the requests that all clients send at once at the time zero.
const later = 100 * time.Millisecond

// row is one scenario with the outcomes of both clients.
type row struct {
	scenario
	ours   outcome
	theirs *outcome // nil where client-go is not modelled
}

// printAll prints a line for each client of each scenario. Requests, rejections and bytes are those of all clients together.
func printAll(to io.Writer, rows []row) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tclient\trequests\texpected\trejected\tmax in 1 s\tmax in 10 ms\tmax in 10 ms, after 0.1 s\t"+
		"MB sent\texpected MB\tmax MB in 1 s\tmax concurrent\thalf live after\tall live after\tlistwatch compared with client-go")
	for _, r := range rows {
		printOutcome(w, r.scenario, r.name+"\tlistwatch", r.ours)
		if r.theirs == nil {
			fmt.Fprintln(w)
			continue
		}
		fmt.Fprintln(w, "\t"+compared(r.ours, *r.theirs))
		s := r.scenario
		s.expected = nil
		printOutcome(w, s, "\t"+clientGoName(s), *r.theirs)
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func clientGoName(s scenario) string {
	if s.saved > 0 {
		return "client-go, no saved state"
	}
	return "client-go"
}

func printOutcome(w io.Writer, s scenario, name string, o outcome) {
	fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t%.0f\t%d\t%s\t%s", name,
		len(o.arrivals), paper(s, o.expectedRequests), o.refused,
		most(o.arrivals, time.Second), most(o.arrivals, 10*time.Millisecond), most(since(o.arrivals, later), 10*time.Millisecond),
		sum(o.sendings)/1e6, paper(s, o.expectedBytes/1e6), most(o.sendings, time.Second)/1e6,
		o.mostUnderWay, seconds(o.half), seconds(o.all))
}

// compared names the figures in which the first outcome is worse than the second, and by how much. A difference of a few
// percent may be due to the seed.
func compared(ours, theirs outcome) string {
	var worse []string
	note := func(figure string, ours, theirs float64) {
		switch {
		case ours <= theirs:
		case theirs == 0:
			worse = append(worse, fmt.Sprintf("%s +%.0f", figure, ours))
		default:
			worse = append(worse, fmt.Sprintf("%s +%.1f %%", figure, 100*(ours/theirs-1)))
		}
	}
	note("requests", float64(len(ours.arrivals)), float64(len(theirs.arrivals)))
	note("rejected", float64(ours.refused), float64(theirs.refused))
	note("max in 10 ms", most(ours.arrivals, 10*time.Millisecond), most(theirs.arrivals, 10*time.Millisecond))
	note("all live after", ours.all.Seconds(), theirs.all.Seconds())
	if worse == nil {
		return "no worse"
	}
	return "worse: " + strings.Join(worse, ", ")
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
