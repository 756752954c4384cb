package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// patience is how long the informers may take to sync, and to see the last write. Nothing that works comes near it.
const patience = 3 * time.Minute

// scenario is a schedule of resets.
type scenario struct {
	name              string
	shortest, longest time.Duration // between two resets
	busy              bool          // objects are updated
	targets           func(ours, theirs result) []target
}

// world has the parameters that all scenarios share.
type world struct {
	length  time.Duration
	updates float64 // per second
	objects int
	seed    uint64
}

// play runs a scenario with both clients at once.
func play(ctx context.Context, s scenario, w world) (row, error) {
	ctx, stop := context.WithTimeout(ctx, w.length+2*patience)
	defer stop()
	server, err := lwtest.Start(nil)
	if err != nil {
		return row{}, err
	}
	defer server.Close()
	for i := range w.objects {
		if err := write(server, nameOf(i), time.Now()); err != nil {
			return row{}, err
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	clients := []*client{newClient("listwatch", startOurs), newClient("client-go", startClientGo)}
	for _, c := range clients {
		if err := c.begin(ctx, server.URL, &running); err != nil {
			return row{}, err
		}
		defer c.proxy.close()
	}
	r := row{scenario: s}
	began := time.Now()
	if r.writes, r.resets, err = disturb(ctx, server, clients, s, w); err != nil {
		return row{}, err
	}
	ended := time.Now()
	for i, c := range clients {
		if err := c.changes.drain(ctx); err != nil {
			return row{}, fmt.Errorf("%s: %w", c.name, err)
		}
		r.results[i] = c.result(began, ended)
	}
	if r.resets > 0 && r.results[0].ends*r.results[1].ends == 0 {
		return row{}, errors.New("a reset did not end a watch")
	}
	return r, nil
}

// disturb resets connections and updates objects for the length of the scenario.
func disturb(ctx context.Context, server *lwtest.Server, clients []*client, s scenario, w world) (writes, resets int, err error) {
	random := rand.New(rand.NewPCG(w.seed, 1))
	cuts := schedule(rand.New(rand.NewPCG(w.seed, 2)), s, w.length)
	ticks := time.NewTicker(time.Duration(float64(time.Second) / w.updates))
	defer ticks.Stop()
	if !s.busy {
		ticks.Stop()
	}
	began := time.Now()
	end := time.After(w.length)
	for {
		var reset <-chan time.Time // nil blocks for ever
		if resets < len(cuts) {
			reset = time.After(time.Until(began.Add(cuts[resets])))
		}
		select {
		case <-reset:
			resets++
			for _, c := range clients {
				c.proxy.reset()
			}
		case <-ticks.C:
			writes++
			name, now := nameOf(random.IntN(w.objects)), time.Now()
			for _, c := range clients {
				c.changes.wrote(name, now)
			}
			if err := write(server, name, now); err != nil {
				return writes, resets, err
			}
		case <-end:
			return writes, resets, nil
		case <-ctx.Done():
			return writes, resets, context.Cause(ctx)
		}
	}
}

// settle is the time after the last reset in which the clients notice it.
const settle = 100 * time.Millisecond

// schedule returns the times of the resets since the beginning.
func schedule(random *rand.Rand, s scenario, length time.Duration) (cuts []time.Duration) {
	for at := time.Duration(0); ; {
		at += s.shortest + time.Duration(random.Float64()*float64(s.longest-s.shortest))
		if at > length-settle {
			return cuts
		}
		cuts = append(cuts, at)
	}
}

func nameOf(i int) string { return fmt.Sprintf("pod-%d", i) }

// written is the annotation with the time of the write.
const written = "bench/written"

// write creates or replaces a Pod.
func write(server *lwtest.Server, name string, at time.Time) error {
	_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"namespace":"flap","name":%q,"annotations":{%q:"%d"}},"spec":{"note":%q}}`,
		name, written, at.UnixNano(), strings.Repeat("x", 1000)))
	return err
}
