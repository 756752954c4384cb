package main

import (
	"cmp"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// scenario is what happens to a thousand clients at the time zero.
type scenario struct {
	name string

	// How they begin then, or began long before.
	running bool
	spread  time.Duration // over how long
	saved   int           // how many seconds ago their state was saved; zero: there is none
	plain   bool          // they ask for ordinary lists
	happens func(*server) // to the server, at the time zero

	lived    time.Duration // how long running clients have had their watch; zero: lead
	clientGo bool          // the clients follow client-go's policy; see reflector

	limited  bool
	noJitter bool          // as if all clients rolled the same dice
	pause    time.Duration // that a client waits at most after a watch ended in good order, as the library does not

	expected func(s *server, n float64) (requests, bytes float64) // on paper; nil where there are refusals
}

const (
	lead  = 20 * time.Second  // clients that run have begun so long before
	until = 150 * time.Second // watches live longer
)

// outcome is what came of a scenario.
type outcome struct {
	tally
	half, all                       time.Duration // until so many clients have an open watch again
	expectedRequests, expectedBytes float64       // zero: there are none
}

// play lets a scenario happen.
func play(s scenario, clients, pods int, of sizes, seed uint64) outcome {
	lived := cmp.Or(s.lived, lead)
	c := newClock(-lived)
	srv := &server{clock: c, sizes: of, pods: pods, limited: s.limited, free: s.running}
	all := make([]*client, clients)
	for i := range all {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		begin := time.Duration(random.Float64() * float64(s.spread))
		if s.running {
			begin -= lived
		}
		one := &client{server: srv, way: slowest/10 + time.Duration(random.Float64()*float64(slowest-slowest/10))}
		all[i] = one
		c.play(begin, func(p *player) {
			one.player = p
			if s.clientGo {
				newReflector(one, random.Float64, s.plain).run()
			} else {
				one.follow(s, random)
			}
		})
	}
	c.at(0, func() {
		srv.free = false
		if s.happens != nil {
			s.happens(srv)
		}
	})
	c.run(until)
	return result(s, srv, all)
}

func result(s scenario, srv *server, all []*client) outcome {
	o := outcome{tally: srv.tally}
	var times []time.Duration
	for _, one := range all {
		at := one.since
		if !one.alive {
			at = until // and still not
		}
		times = append(times, at)
	}
	slices.Sort(times)
	o.half, o.all = times[len(times)/2], times[len(times)-1]
	if s.expected != nil {
		o.expectedRequests, o.expectedBytes = s.expected(srv, float64(len(all)))
	}
	return o
}

// What may happen.

func cut(s *server) { s.end(errReset) }

// away takes the server off the net; begun anew it may know no version from before.
func away(d time.Duration, forgets bool) func(*server) {
	return func(s *server) {
		s.end(errReset)
		s.down = true
		s.after(d, func() {
			if s.down = false; forgets {
				s.oldest = s.version()
			}
		})
	}
}

// refusing ends the watches in good order, and answers all with 429 for a while.
func refusing(d, retryAfter time.Duration, forgets bool) func(*server) {
	return func(s *server) {
		s.end(io.EOF)
		s.refuses = retryAfter
		s.after(d, func() {
			if s.refuses = 0; forgets {
				s.oldest = s.version()
			}
		})
	}
}

func handover(s *server) { s.end(io.EOF) }
