package main

import "time"

// load has the requests and bytes of a server, in the order of time.
type load struct {
	arrivals, sendings []moment
	rejected           int
	underWay           int
	maxConcurrent      int // requests under way or in the queue
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

// most returns the largest amount within a window of time.
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

// since returns the moments from a time on.
func since(of []moment, begin time.Duration) []moment {
	for len(of) > 0 && of[0].at < begin {
		of = of[1:]
	}
	return of
}
