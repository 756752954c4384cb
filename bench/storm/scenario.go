package main

import (
	"math/rand/v2"
	"time"
)

// scenario is an incident at time zero, when all clients have a watch.
type scenario struct {
	short    string // name in the published results
	name     string
	age      time.Duration // age of the watches at time zero
	happens  func(*server)
	clientGo bool // whether the clients use client-go's retry policy; see reflector
}

// until is the simulated time at which a simulation ends.
const until = 150 * time.Second

type outcome struct {
	load
	live time.Duration // time until all clients have a watch again
}

func play(s scenario, clients, pods int, seed uint64) outcome {
	c := newClock(-s.age)
	srv := &server{clock: c, pods: pods, free: true}
	all := make([]*client, clients)
	for i := range all {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		one := &client{server: srv, latency: slowest/10 + time.Duration(random.Float64()*float64(slowest-slowest/10))}
		all[i] = one
		c.play(-s.age, func(p *player) {
			one.player = p
			if s.clientGo {
				newReflector(one, random.Float64).run()
			} else {
				one.follow(random)
			}
		})
	}
	c.at(0, func() {
		srv.free = false
		s.happens(srv)
	})
	c.run(until)
	o := outcome{load: srv.load}
	for _, one := range all {
		if !one.alive {
			one.since = until // the client has not recovered
		}
		o.live = max(o.live, one.since)
	}
	return o
}

// cut resets all connections of the server.
func cut(s *server) { s.reset() }

// outage makes the server unreachable for 10 s. Afterwards, all earlier resourceVersions have expired.
func outage(s *server) {
	s.reset()
	s.down = true
	s.after(10*time.Second, func() { s.down, s.oldest = false, s.version() })
}

// load contains the requests that a server received after time zero.
type load struct {
	arrivals []time.Duration // arrival times in ascending order
	rejected int
}

// most returns the largest number of arrivals in any period of length window.
func most(arrivals []time.Duration, window time.Duration) (most int) {
	first := 0
	for i, at := range arrivals {
		for at-arrivals[first] >= window {
			first++
		}
		most = max(most, i+1-first)
	}
	return most
}
