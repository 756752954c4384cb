package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/clients"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// maxWait limits the initial sync and the wait for the last events. Both normally take less than a second.
const maxWait = 3 * time.Minute

// measure disturbs the connections of all clients at the same time and returns one result per client.
func measure(ctx context.Context) ([]result, error) {
	ctx, stop := context.WithTimeout(ctx, length+2*maxWait)
	defer stop()
	server, err := lwtest.Start(nil)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	for i := range objects {
		if err := write(server, nameOf(i), time.Now()); err != nil {
			return nil, err
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	all, err := startAll(ctx, server.URL, &running)
	if err != nil {
		return nil, err
	}
	d := disturbance{server: server, clients: all}
	began := time.Now()
	if err := d.run(ctx); err != nil {
		return nil, err
	}
	return d.results(ctx, began, time.Now())
}

func startAll(ctx context.Context, server string, running *sync.WaitGroup) ([]*client, error) {
	folder, err := os.MkdirTemp("", "flap")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program, err := buildLwcat(ctx, folder)
	if err != nil {
		return nil, err
	}
	all := []*client{newClient(clients.Listwatch), newClient(clients.ClientGo), newClient(lwcatName)}
	for _, c := range all {
		if c.name == lwcatName {
			err = c.startLwcat(ctx, program, server, running)
		} else {
			err = c.start(ctx, server, running)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return all, nil
}

// disturbance resets all connections of a server and updates its objects.
type disturbance struct {
	server  *lwtest.Server
	clients []*client
	resets  int
}

// run resets connections and updates random objects for the duration of the measurement.
func (d *disturbance) run(ctx context.Context) error {
	random := rand.New(rand.NewPCG(seed, 1))
	resets := schedule(rand.New(rand.NewPCG(seed, 2)), length)
	ticks := time.NewTicker(time.Second / updates)
	defer ticks.Stop()
	began := time.Now()
	end := time.After(length)
	for {
		var reset <-chan time.Time // nil if no reset is left, so that the select never receives from it
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
	now := time.Now()
	for _, c := range d.clients {
		c.changes.wrote(name, now)
	}
	return write(d.server, name, now)
}

// results waits until all clients have seen all writes and returns one result per client.
func (d *disturbance) results(ctx context.Context, began, ended time.Time) (all []result, err error) {
	for _, c := range d.clients {
		if err := c.changes.drain(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		r := result{name: c.name, delays: c.changes.seen()}
		if r.ends, r.stale = c.outages.within(began, ended); r.ends == 0 {
			return nil, fmt.Errorf("%s: none of the connection resets ended a watch", c.name)
		}
		all = append(all, r)
	}
	return all, nil
}

// settle is the minimum time between the last reset and the end of the measurement.
const settle = 100 * time.Millisecond

// schedule returns the time of each reset, relative to the start of the measurement.
func schedule(random *rand.Rand, length time.Duration) (resets []time.Duration) {
	for at := time.Duration(0); ; {
		at += shortest + time.Duration(random.Float64()*float64(longest-shortest))
		if at > length-settle {
			return resets
		}
		resets = append(resets, at)
	}
}

func nameOf(i int) string { return fmt.Sprintf("pod-%d", i) }

// write creates or replaces a Pod of about 1 kB and annotates it with the time of the write.
func write(server *lwtest.Server, name string, at time.Time) error {
	_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"namespace":"flap","name":%q,"annotations":{%q:"%d"}},"spec":{"note":%q}}`,
		name, writtenAt, at.UnixNano(), strings.Repeat("x", 1000)))
	return err
}
