package main

import "time"

// tally is what came and went, in the order of time.
type tally struct {
	arrivals, sendings []moment
	refused            int
	underWay           int
	mostUnderWay       int // with those that waited for a seat
}

// moment is when so many requests came, or bytes went.
type moment struct {
	at     time.Duration
	amount float64
}

func (t *tally) arrived(at time.Duration) { t.arrivals = append(t.arrivals, moment{at, 1}) }

func (t *tally) sent(at time.Duration, bytes float64) {
	t.sendings = append(t.sendings, moment{at, bytes})
}

func (t *tally) waiting(queued int) { t.mostUnderWay = max(t.mostUnderWay, t.underWay+queued) }

func sum(of []moment) (all float64) {
	for _, one := range of {
		all += one.amount
	}
	return all
}

// most is what came at most within any time of that length.
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

// since leaves out what was before.
func since(of []moment, begin time.Duration) []moment {
	for len(of) > 0 && of[0].at < begin {
		of = of[1:]
	}
	return of
}
