package main

import (
	"container/heap"
	"iter"
	"time"
)

// clock is simulated time. It jumps from one event to the next. One goroutine runs at a time, and events at the same time happen
// in the order in which they were scheduled, so every run is the same.
type clock struct {
	now     time.Duration
	events  events
	count   int // scheduled events, which gives each its order
	players []*player
	over    bool // the simulation has ended
}

func newClock(begin time.Duration) *clock { return &clock{now: begin} }

// at schedules do for a time that has not passed.
func (c *clock) at(when time.Duration, do func()) {
	c.count++
	heap.Push(&c.events, event{when, c.count, do})
}

// after schedules do.
func (c *clock) after(d time.Duration, do func()) { c.at(c.now+d, do) }

// run runs all events up to a time. It then ends all players: their calls of wait and sleep return.
func (c *clock) run(until time.Duration) {
	for len(c.events) > 0 && c.events[0].when <= until {
		next := heap.Pop(&c.events).(event)
		c.now = next.when
		next.do()
	}
	c.over = true
	for _, p := range c.players {
		p.stop()
	}
}

// player is a coroutine in simulated time. It runs until it waits or returns.
type player struct {
	*clock
	resume func() // runs the player until it waits again
	stop   func()
	yield  func(struct{}) bool
}

// play schedules the start of a player.
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

// wait returns when an event calls resume, or when the simulation is over.
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
	when  time.Duration
	order int
	do    func()
}

// events implements heap.Interface.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].when < e[j].when || e[i].when == e[j].when && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(one any) { *e = append(*e, one.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
