package main

import (
	"container/heap"
	"time"
)

// clock is simulated time, which jumps from one appointment to the next. One goroutine runs at a time, and what happens at the
// same time happens in the order in which it was arranged, so that all repeats itself.
type clock struct {
	now     time.Duration
	agenda  agenda
	count   int
	players []*player
	back    chan struct{} // whoever has the word gives it back
	over    bool
}

func newClock(begin time.Duration) *clock { return &clock{now: begin, back: make(chan struct{})} }

// at arranges something for a time that has not passed.
func (c *clock) at(when time.Duration, do func()) {
	c.count++
	heap.Push(&c.agenda, appointment{when, c.count, do})
}

func (c *clock) after(d time.Duration, do func()) { c.at(c.now+d, do) }

// run lets time pass until a moment, or until nothing is arranged any more. Then it is all over: who waits is told so.
func (c *clock) run(until time.Duration) {
	for len(c.agenda) > 0 && c.agenda[0].when <= until {
		next := heap.Pop(&c.agenda).(appointment)
		c.now = next.when
		next.do()
	}
	c.over = true
	for _, p := range c.players {
		for !p.ended {
			p.resume()
		}
	}
}

// player is a goroutine that lives in simulated time. It has the word until it waits or ends.
type player struct {
	*clock
	turn  chan struct{}
	ended bool
}

// play begins a goroutine at a time.
func (c *clock) play(when time.Duration, do func(*player)) {
	p := &player{clock: c, turn: make(chan struct{})}
	c.players = append(c.players, p)
	go func() {
		<-p.turn
		if !c.over {
			do(p)
		}
		p.ended = true
		c.back <- struct{}{}
	}()
	c.at(when, p.resume)
}

// resume gives the word to a player that waits, and returns when it waits again.
func (p *player) resume() {
	p.turn <- struct{}{}
	<-p.back
}

// wait returns when resume is called, which must have been arranged, or will be.
func (p *player) wait() {
	if !p.over {
		p.back <- struct{}{}
		<-p.turn
	}
}

func (p *player) sleep(d time.Duration) {
	p.after(d, p.resume)
	p.wait()
}

type appointment struct {
	when  time.Duration
	order int
	do    func()
}

// agenda implements heap.Interface.
type agenda []appointment

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].when < a[j].when || a[i].when == a[j].when && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(one any) { *a = append(*a, one.(appointment)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}
