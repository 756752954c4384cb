package main

import (
	"cmp"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// scenario describes the clients and an incident at time zero.
type scenario struct {
	name string

	running bool          // the clients have a watch at time zero, otherwise they start then
	spread  time.Duration // how long the start of all clients takes
	saved   int           // age of their saved state in seconds; zero means none
	plain   bool          // they request ordinary lists
	happens func(*server) // the incident

	lived    time.Duration // age of the watches at time zero; zero means lead
	clientGo bool          // the clients follow client-go's policy; see reflector

	limited  bool          // the server has the limits of a kube-apiserver
	noJitter bool          // all clients draw the same random numbers
	pause    time.Duration // maximum pause after a clean close; the library has none

	expected func(s *server, n float64) (requests, bytes float64) // for n clients; nil if the server rejects requests
}

const (
	lead  = 20 * time.Second  // default age of the watches
	until = 150 * time.Second // end of the simulation
)

// outcome is the result of a scenario.
type outcome struct {
	load
	half, all                       time.Duration // time until half or all of the clients have a watch
	expectedRequests, expectedBytes float64       // zero means unknown
}

// play simulates a scenario.
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
	o := outcome{load: srv.load}
	var times []time.Duration
	for _, one := range all {
		at := one.since
		if !one.alive {
			at = until // no watch
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

// cut resets all connections.
func cut(s *server) { s.end(errReset) }

// away makes the server unreachable for a while. If forgets is true, all earlier resourceVersions have expired
// afterwards.
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

// rejecting closes all watches cleanly and then rejects all requests with 429 for a while.
func rejecting(d, retryAfter time.Duration, forgets bool) func(*server) {
	return func(s *server) {
		s.end(io.EOF)
		s.rejects = retryAfter
		s.after(d, func() {
			if s.rejects = 0; forgets {
				s.oldest = s.version()
			}
		})
	}
}

// handover closes all watches cleanly.
func handover(s *server) { s.end(io.EOF) }
