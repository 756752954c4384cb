package main

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// clock is a simulated clock that jumps from one event to the next. Only one goroutine runs at a time. Simultaneous
// events run in the order in which they were scheduled, so all simulations with the same seed are identical.
type clock struct {
	now     time.Duration
	events  []event // sorted by time; simultaneous events in the order of scheduling
	players []*player
	over    bool // whether the simulation has ended
}

func newClock(begin time.Duration) *clock { return &clock{now: begin} }

// at schedules a call of do for a time, which must not be in the past.
func (c *clock) at(when time.Duration, do func()) {
	i, _ := slices.BinarySearchFunc(c.events, when+1, func(e event, when time.Duration) int { return cmp.Compare(e.when, when) })
	c.events = slices.Insert(c.events, i, event{when, do})
}

// after schedules a call of do after a delay.
func (c *clock) after(d time.Duration, do func()) { c.at(c.now+d, do) }

// run runs all events up to the given time. Then it ends the simulation, so that wait and sleep return in all players.
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

// player is a coroutine on the simulated clock. It runs until it waits or returns.
type player struct {
	*clock
	resume func() // runs the player until it waits again
	stop   func()
	yield  func(struct{}) bool
}

// play starts a player at the given time.
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

// wait blocks until an event calls resume or the simulation ends.
func (p *player) wait() {
	if !p.over {
		p.yield(struct{}{})
	}
}

// sleep waits for a duration.
func (p *player) sleep(d time.Duration) {
	p.after(d, p.resume)
	p.wait()
}

type event struct {
	when time.Duration
	do   func()
}
