// Flap measures how fast an informer recovers when its connections break again and again. It runs the library's informer next
// to client-go's dynamic informer, in one process, against one embedded server on loopback. The server resets all connections at
// once. Delays run from a write to the call of a handler.
package main

import (
	"context"
	"os"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var length = 170 * time.Second // of each scenario; -short sets 2 s

const (
	updates = 20 // per second, except in the quiet scenario
	objects = 50 // in the collection
	seed    = 1
)

// shortened is the factor by which -short divides the time between two resets.
const shortened = 20

// scenarios are printed in this order.
var scenarios = []scenario{
	{name: "reset every 10-30 s", shortest: 10 * time.Second, longest: 30 * time.Second, busy: true, targets: delayTargets},
	{name: "reset every 5 s", shortest: 5 * time.Second, longest: 5 * time.Second, busy: true, targets: staleTarget},
	{name: "reset every 15 s, no updates", shortest: 15 * time.Second, longest: 15 * time.Second, targets: staleTarget},
	{name: "reset every 6 s", shortest: 6 * time.Second, longest: 6 * time.Second, busy: true},
}

func main() { harness.Main("flap", compare) }

// compare runs all scenarios, one after the other, and prints their results.
func compare(ctx context.Context) error {
	if *harness.Short {
		length = 2 * time.Second
	}
	var rows []row
	name := func(s scenario) string { return s.name }
	err := harness.Rounds(1, scenarios, name, func(s scenario) error {
		if *harness.Short {
			s.shortest, s.longest = s.shortest/shortened, s.longest/shortened
		}
		r, err := play(ctx, s)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return err
	}
	return printAll(os.Stdout, rows)
}
