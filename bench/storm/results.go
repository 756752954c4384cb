package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// later excludes the requests that all clients send immediately after the incident.
const later = 100 * time.Millisecond

// row is one scenario with the results of both clients.
type row struct {
	scenario
	ours   outcome
	theirs *outcome // nil if client-go is not modelled
}

// printAll prints a line for each client in each scenario. Requests, rejections and bytes are totals over all clients.
func printAll(to io.Writer, rows []row) error {
	table := harness.NewTable(to, "scenario\tclient\trequests\texpected\trejected\tmax in 1 s\tmax in 10 ms\tmax in 10 ms, after 0.1 s\t"+
		"MB sent\texpected MB\tmax MB in 1 s\tmax concurrent\thalf live after\tall live after")
	for _, r := range rows {
		s := r.scenario
		table.Row("%s\tlistwatch%s", r.name, columns(s, r.ours))
		if s.expected = nil; r.theirs != nil {
			table.Row("\t%s%s", clientGoName(s), columns(s, *r.theirs))
		}
	}
	return table.Flush()
}

func clientGoName(s scenario) string {
	if s.saved > 0 {
		return "client-go, no saved state"
	}
	return "client-go"
}

// columns returns the columns of an outcome.
func columns(s scenario, o outcome) string {
	return fmt.Sprintf("\t%d\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t%.0f\t%d\t%s\t%s",
		len(o.arrivals), expected(s, o.expectedRequests), o.rejected,
		most(o.arrivals, time.Second), most(o.arrivals, 10*time.Millisecond), most(since(o.arrivals, later), 10*time.Millisecond),
		sum(o.sendings)/1e6, expected(s, o.expectedBytes/1e6), most(o.sendings, time.Second)/1e6,
		o.maxConcurrent, seconds(o.half), seconds(o.all))
}

func expected(s scenario, figure float64) string {
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

// load records the requests and bytes of a server in chronological order.
type load struct {
	arrivals, sendings []moment
	rejected           int
	underWay           int
	maxConcurrent      int // active or queued requests
}

// moment is a time with a number of requests or bytes.
type moment struct {
	at     time.Duration
	amount float64
}

func (l *load) arrived(at time.Duration) { l.arrivals = append(l.arrivals, moment{at, 1}) }

func (l *load) sent(at time.Duration, bytes float64) {
	l.sendings = append(l.sendings, moment{at, bytes})
}

func (l *load) noteConcurrent(queued int) {
	l.maxConcurrent = max(l.maxConcurrent, l.underWay+queued)
}

func sum(of []moment) (all float64) {
	for _, one := range of {
		all += one.amount
	}
	return all
}

// most returns the largest amount within a time window.
func most(of []moment, window time.Duration) (most float64) {
	first, within := 0, 0.0
	for _, one := range of {
		for one.at-of[first].at >= window {
			within -= of[first].amount
			first++
		}
		within += one.amount
		most = max(most, within)
	}
	return most
}

// since returns the moments from begin on.
func since(of []moment, begin time.Duration) []moment {
	for len(of) > 0 && of[0].at < begin {
		of = of[1:]
	}
	return of
}
