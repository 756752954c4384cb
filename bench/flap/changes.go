package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// changes measures the delay of each write until a handler sees it. A write that was overwritten counts as seen when the handler
// sees a later state of its object.
type changes struct {
	mu      sync.Mutex
	pending map[string][]time.Time // times of the writes of an object that no handler saw yet
	delays  []float64              // milliseconds
}

func newChanges() *changes { return &changes{pending: map[string][]time.Time{}} }

// wrote notes a write. Writes must be noted in the order of time.
func (c *changes) wrote(name string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[name] = append(c.pending[name], at)
}

// saw notes that a handler sees the state of an object that was written at a time.
func (c *changes) saw(name string, wrote, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending := c.pending[name]
	for len(pending) > 0 && !pending[0].After(wrote) {
		c.delays = append(c.delays, now.Sub(pending[0]).Seconds()*1000)
		pending = pending[1:]
	}
	c.pending[name] = pending
}

// seen returns the delays so far, in milliseconds.
func (c *changes) seen() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.delays)
}

func (c *changes) unseen() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.pending {
		n += len(one)
	}
	return n
}

// drain waits until all writes have been seen.
func (c *changes) drain(ctx context.Context) error {
	for deadline := time.Now().Add(patience); c.unseen() > 0; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("no handler saw %d writes", c.unseen())
		}
	}
	return nil
}

// outages notes when a client has no open watch.
type outages struct {
	mu  sync.Mutex
	all []outage
}

type outage struct{ from, to time.Time } // to is zero while it lasts

// begin notes the end of a watch.
func (o *outages) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) == 0 || !o.all[len(o.all)-1].to.IsZero() {
		o.all = append(o.all, outage{from: now})
	}
}

// end notes a new watch.
func (o *outages) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := len(o.all) - 1; last >= 0 && o.all[last].to.IsZero() {
		o.all[last].to = now
	}
}

// within returns the number of outages that began in a period, and the share of the period without a watch.
func (o *outages) within(from, to time.Time) (n int, share float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var total time.Duration
	for _, one := range o.all {
		begin, end := one.from, one.to
		if begin.After(from) && begin.Before(to) {
			n++
		}
		if begin.Before(from) {
			begin = from
		}
		if end.IsZero() || end.After(to) {
			end = to
		}
		total += max(0, end.Sub(begin))
	}
	return n, total.Seconds() / to.Sub(from).Seconds()
}
