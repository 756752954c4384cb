// Storm simulates the load on a server when 1,000 clients start or lose their watches at the same time. It counts
// requests, rejections and bytes, and measures the time until all clients have a watch.
//
// It prints a row for the library, which runs with its own engine, and a row for a model of client-go's retry policy;
// see reflector. The server, the network and the time are simulated, so a seed gives the same result on every machine.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

const (
	second  = time.Second
	old     = 60    // age of a saved state in seconds
	ancient = 10000 // age of an expired saved state in seconds
)

// scenarios are printed in this order.
var scenarios = withoutJitter([]scenario{
	{name: "begin: streaming lists", expected: func(s *server, n float64) (float64, float64) { return n, n * s.stream }},
	{name: "begin: ordinary lists", plain: true, expected: func(s *server, n float64) (float64, float64) { return 2 * n, n * s.list }},
	{name: "begin over 30 s", spread: 30 * second, expected: func(s *server, n float64) (float64, float64) { return n, n * s.stream }},
	{name: "begin from a state 60 s old", saved: old, expected: func(s *server, n float64) (float64, float64) { return n, n * old * s.event }},
	{name: "begin from a state too old", saved: ancient, happens: func(s *server) { s.oldest = s.version() - old },
		expected: func(s *server, n float64) (float64, float64) { return 2 * n, n * s.stream }},
	{name: "begin, limited", limited: true},
	{name: "begin from a state too old, limited", saved: ancient, limited: true, happens: func(s *server) { s.oldest = s.version() - old }},
	{name: "connections are cut", running: true, happens: cut, expected: after(0)},
	{name: "away for 10 s", running: true, happens: away(10*second, false), expected: after(10 * second)},
	{name: "away for 60 s", running: true, happens: away(60*second, false), expected: after(60 * second)},
	{name: "away for 10 s, then too old, limited", running: true, limited: true, happens: away(10*second, true)},
	{name: "load balancer cuts watches 5 min old, limited", running: true, limited: true, lived: 5 * time.Minute, happens: cut},
	{name: "load balancer cuts watches 20 s old, limited", running: true, limited: true, happens: cut},
	{name: "watches end, another server takes over", running: true, happens: handover,
		expected: func(s *server, n float64) (float64, float64) { return n, 0 }},
	{name: "the same, limited", running: true, limited: true, happens: handover},
	{name: "the same with a pause of up to 1 s", running: true, limited: true, happens: handover, pause: second},
	{name: "watches end, 429 for 5 s with Retry-After 5", running: true, limited: true, happens: rejecting(5*second, 5*second, false)},
	{name: "watches end, 429 for 3 s with Retry-After 1, then too old", running: true, limited: true, happens: rejecting(3*second, second, true)},
})

// withoutJitter adds a copy without jitter after each scenario in which clients wait.
func withoutJitter(scenarios []scenario) (all []scenario) {
	for _, s := range scenarios {
		all = append(all, s)
		if s.running && s.pause == 0 || s.limited && !s.running {
			s.name, s.noJitter, s.expected = "… without jitter", true, nil
			all = append(all, s)
		}
	}
	return all
}

// modelled reports whether a scenario includes the model of client-go. client-go always uses jitter and never pauses
// after a clean close.
func (s scenario) modelled() bool { return !s.noJitter && s.pause == 0 }

// The library's delays.
const (
	firstDelay   = 0.8 // seconds
	longestDelay = 30.0
	meanJitter   = 1.5 // average factor of a delay
)

// after returns the expected load after an outage of the server. Every client sends one request after each delay that
// began during the outage. The last request succeeds and returns the missed changes.
func after(away time.Duration) func(*server, float64) (float64, float64) {
	return func(s *server, n float64) (requests, bytes float64) {
		attempts, waited, delay := 1.0, 0.0, firstDelay // the first attempt immediately follows the reset
		for ; waited < away.Seconds(); attempts++ {
			waited += meanJitter * delay
			delay = math.Min(2*delay, longestDelay)
		}
		return n * attempts, n * waited * s.event
	}
}

const seed = 1

func main() { harness.Main("storm", compare) }

func compare(context.Context) error {
	clients, pods := 1000, 1000 // a Pod has 7 kB, and one Pod changes per second
	if *harness.Short {
		clients, pods = 50, 100
	}
	of := sizesOf(pods)
	fmt.Printf("%d clients, %d Pods: a list has %.0f kB, a streaming list %.0f kB, an event %.1f kB\n\n",
		clients, pods, of.list/1000, of.stream/1000, of.event/1000)
	var rows []row
	for _, s := range scenarios {
		r := row{scenario: s, ours: play(s, clients, pods, of, seed)}
		if s.modelled() {
			s.clientGo = true
			theirs := play(s, clients, pods, of, seed)
			r.theirs = &theirs
		}
		rows = append(rows, r)
	}
	return printAll(os.Stdout, rows)
}
