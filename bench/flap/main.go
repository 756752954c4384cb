// Flap measures how fast an informer recovers when its connections break again and again. It runs the library's informer next
// to client-go's dynamic informer, in one process, against one embedded server on loopback. Each informer has its own TCP proxy.
// Both proxies reset all connections at the same moments. Delays run from a write to the call of a handler.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

var (
	length  = flag.Duration("length", 170*time.Second, "duration of each scenario")
	updates = flag.Float64("updates", 20, "updates per second, except in the quiet scenario")
	objects = flag.Int("objects", 50, "number of objects in the collection")
	seed    = flag.Uint64("seed", 1, "seed of the random resets and updates")
	short   = flag.Bool("short", false, "run each scenario for 2 s with a twentieth of the time between resets")
)

// shortened is the factor by which -short divides the time between two resets.
const shortened = 20

// scenarios are those that are printed, in their order.
var scenarios = []scenario{
	{name: "reset every 10-30 s", shortest: 10 * time.Second, longest: 30 * time.Second, busy: true, targets: delayTargets},
	{name: "reset every 5 s", shortest: 5 * time.Second, longest: 5 * time.Second, busy: true, targets: staleTarget},
	{name: "reset every 15 s, no updates", shortest: 15 * time.Second, longest: 15 * time.Second, targets: staleTarget},
	{name: "reset every 6 s", shortest: 6 * time.Second, longest: 6 * time.Second, busy: true},
}

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "flap:", err)
		os.Exit(1)
	}
}

// compare runs all scenarios, one after the other, and prints their results.
func compare(ctx context.Context) error {
	if *short {
		*length = 2 * time.Second
	}
	var rows []row
	for i, s := range scenarios {
		if *short {
			s.shortest, s.longest = s.shortest/shortened, s.longest/shortened
		}
		fmt.Fprintf(os.Stderr, "scenario %d of %d, %v: %s\n", i+1, len(scenarios), *length, s.name)
		r, err := play(ctx, s, world{*length, *updates, *objects, *seed})
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		rows = append(rows, r)
	}
	return printAll(os.Stdout, rows)
}
