// Storm simulates the load on a server when 1,000 clients start at once or lose their watches at once. It counts requests,
// rejections and bytes, and the time until all clients have a watch. It prints a row for the library, which runs with its own
// engine, and a row for a model of client-go's retry policy; see reflector. The server, the network and the time are simulated.
// A seed therefore always gives the same result, on every machine.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

var (
	clients = flag.Int("clients", 1000, "how many there are, each with one watch")
	pods    = flag.Int("pods", 1000, "how many Pods they follow, of 7 kB each; one changes in a second")
	seed    = flag.Uint64("seed", 1, "of all dice")
	short   = flag.Bool("short", false, "a few clients, only to see that all works")
	plots   = flag.String("plots", "", "a folder for storm.svg: requests over time, with and without jitter")
)

// patience is how long the library waits for a response, which is not simulated.
const patience = 90 * time.Second

func main() {
	flag.Parse()
	if *short {
		*clients, *pods = 50, 100
	}
	if work := time.Duration(*clients**pods) * listCost / processors; work > patience {
		fmt.Fprintf(os.Stderr, "storm: one list for every client is %v of work, and clients wait %v for a response: fewer of either\n", work, patience)
		os.Exit(2)
	}
	of := sizesOf(*pods)
	fmt.Printf("%d clients, %d Pods: a list has %.0f kB, a streaming list %.0f kB, an event %.1f kB\n\n",
		*clients, *pods, of.list/1000, of.stream/1000, of.event/1000)
	var rows []row
	for _, s := range scenarios {
		rows = append(rows, played(s, of))
	}
	if err := printAll(os.Stdout, rows); err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
		os.Exit(1)
	}
	if *plots != "" {
		if err := draw(*plots, of); err != nil {
			fmt.Fprintln(os.Stderr, "storm:", err)
			os.Exit(1)
		}
	}
}

// played plays a scenario with the library and, where it is modelled, with client-go.
func played(s scenario, of sizes) row {
	r := row{scenario: s, ours: play(s, *clients, *pods, of, *seed)}
	if s.modelled() {
		s.clientGo = true
		theirs := play(s, *clients, *pods, of, *seed)
		r.theirs = &theirs
	}
	return r
}
