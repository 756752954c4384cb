// Storm simulates the load on a server when 1,000 clients start at once or lose their watches at once. It counts requests,
// rejections and bytes, and the time until all clients have a watch. It prints a row for the library, which runs with its own
// engine, and a row for a model of client-go's retry policy; see reflector. The server, the network and the time are simulated.
// A seed therefore always gives the same result, on every machine.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

const seed = 1

func main() { harness.Main("storm", compare) }

func compare(context.Context) error {
	clients, pods := 1000, 1000 // Pods have 7 kB, and one of them changes per second
	if *harness.Short {
		clients, pods = 50, 100
	}
	of := sizesOf(pods)
	fmt.Printf("%d clients, %d Pods: a list has %.0f kB, a streaming list %.0f kB, an event %.1f kB\n\n",
		clients, pods, of.list/1000, of.stream/1000, of.event/1000)
	var rows []row
	for _, s := range scenarios {
		r := row{scenario: s, ours: play(s, clients, pods, of, seed)}
		if s.modelled() {
			s.clientGo = true
			theirs := play(s, clients, pods, of, seed)
			r.theirs = &theirs
		}
		rows = append(rows, r)
	}
	return printAll(os.Stdout, rows)
}
