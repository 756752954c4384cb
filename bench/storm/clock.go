package main

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// clock is a simulated clock that jumps from one event to the next. Simulations with the same seed are identical,
// because only one goroutine runs at a time and simultaneous events run in the order of scheduling.
type clock struct {
	now     time.Duration
	events  []event // sorted by time, then by order of scheduling
	players []*player
	over    bool
}

func newClock(begin time.Duration) *clock { return &clock{now: begin} }

// at schedules a call of do at a simulated time, which must not be in the past.
func (c *clock) at(when time.Duration, do func()) {
	i, _ := slices.BinarySearchFunc(c.events, when+1, func(e event, when time.Duration) int { return cmp.Compare(e.when, when) })
	c.events = slices.Insert(c.events, i, event{when, do})
}

func (c *clock) after(d time.Duration, do func()) { c.at(c.now+d, do) }

// run processes the events up to the given time and ends the simulation. From then on, the methods wait and sleep of
// all players return at once.
func (c *clock) run(until time.Duration) {
	for len(c.events) > 0 && c.events[0].when <= until {
		next := c.events[0]
		c.events = c.events[1:]
		c.now = next.when
		next.do()
	}
	c.over = true
	for _, p := range c.players {
		p.stop()
	}
}

// player is a coroutine on the simulated clock.
type player struct {
	*clock
	resume func() // runs the coroutine until it waits or returns
	stop   func()
	yield  func(struct{}) bool
}

// play creates a player that starts to run do at the given time.
func (c *clock) play(when time.Duration, do func(*player)) {
	p := &player{clock: c}
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		do(p)
	})
	p.resume, p.stop = func() { next() }, stop
	c.players = append(c.players, p)
	c.at(when, p.resume)
}

// wait blocks until resume is called or the simulation ends.
func (p *player) wait() {
	if !p.over {
		p.yield(struct{}{})
	}
}

func (p *player) sleep(d time.Duration) {
	p.after(d, p.resume)
	p.wait()
}

type event struct {
	when time.Duration
	do   func()
}
