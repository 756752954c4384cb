package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// maxWait bounds the initial sync and the wait for the last write. Working informers are much faster.
const maxWait = 3 * time.Minute

// scenario is a schedule of resets.
type scenario struct {
	name              string
	shortest, longest time.Duration // between two resets
	busy              bool          // objects are updated
	targets           func(ours, theirs result) []string
}

// play runs a scenario with both clients at the same time.
func play(ctx context.Context, s scenario) (row, error) {
	ctx, stop := context.WithTimeout(ctx, length+2*maxWait)
	defer stop()
	server, err := lwtest.Start(nil)
	if err != nil {
		return row{}, err
	}
	defer server.Close()
	for i := range objects {
		if err := write(server, nameOf(i), time.Now()); err != nil {
			return row{}, err
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	both := []*client{newClient(clients.Listwatch), newClient(clients.ClientGo)}
	for _, c := range both {
		if err := c.start(ctx, server.URL, &running); err != nil {
			return row{}, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	d := disturbance{scenario: s, server: server, clients: both}
	began := time.Now()
	if err := d.run(ctx); err != nil {
		return row{}, err
	}
	return d.row(ctx, began, time.Now())
}

// disturbance resets all connections of a server and updates its objects.
type disturbance struct {
	scenario
	server         *lwtest.Server
	clients        []*client
	writes, resets int
}

// run resets connections and updates objects for the duration of the scenario.
func (d *disturbance) run(ctx context.Context) error {
	random := rand.New(rand.NewPCG(seed, 1))
	resets := schedule(rand.New(rand.NewPCG(seed, 2)), d.scenario, length)
	ticks := time.NewTicker(time.Second / updates)
	defer ticks.Stop()
	if !d.busy {
		ticks.Stop()
	}
	began := time.Now()
	end := time.After(length)
	for {
		var reset <-chan time.Time // nil blocks forever
		if d.resets < len(resets) {
			reset = time.After(time.Until(began.Add(resets[d.resets])))
		}
		select {
		case <-reset:
			d.resets++
			d.server.DropConnections()
		case <-ticks.C:
			if err := d.update(nameOf(random.IntN(objects))); err != nil {
				return err
			}
		case <-end:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (d *disturbance) update(name string) error {
	d.writes++
	now := time.Now()
	for _, c := range d.clients {
		c.changes.wrote(name, now)
	}
	return write(d.server, name, now)
}

// row waits until both clients have seen all writes, and returns the results.
func (d *disturbance) row(ctx context.Context, began, ended time.Time) (row, error) {
	r := row{scenario: d.scenario, writes: d.writes, resets: d.resets}
	for i, c := range d.clients {
		if err := c.changes.drain(ctx); err != nil {
			return row{}, fmt.Errorf("%s: %w", c.name, err)
		}
		r.results[i] = c.result(began, ended)
		if r.resets > 0 && r.results[i].ends == 0 {
			return row{}, fmt.Errorf("%s: a reset did not end the watch", c.name)
		}
	}
	return r, nil
}

// settle is how long the clients get to notice the last reset.
const settle = 100 * time.Millisecond

// schedule returns the times of the resets, relative to the start.
func schedule(random *rand.Rand, s scenario, length time.Duration) (resets []time.Duration) {
	for at := time.Duration(0); ; {
		at += s.shortest + time.Duration(random.Float64()*float64(s.longest-s.shortest))
		if at > length-settle {
			return resets
		}
		resets = append(resets, at)
	}
}

func nameOf(i int) string { return fmt.Sprintf("pod-%d", i) }

// write creates or replaces a Pod.
func write(server *lwtest.Server, name string, at time.Time) error {
	_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"namespace":"flap","name":%q,"annotations":{%q:"%d"}},"spec":{"note":%q}}`,
		name, writtenAt, at.UnixNano(), strings.Repeat("x", 1000)))
	return err
}
