// Command storm simulates the load on a server when 1,000 clients lose their watches at the same time. It prints the
// number of requests and rejections, and the time until all clients have a watch.
//
// It compares listwatch's engine with a model of client-go's retry policy; see reflector. The server, the network and
// the clock are simulated, so a seed gives the same result on every machine.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var scenarios = []scenario{
	{name: "5-minute-old watches are disconnected", age: 5 * time.Minute, happens: cut},
	{name: "10 s offline, resourceVersion expired", age: 20 * time.Second, happens: outage},
}

const seed = 1

func main() { harness.Main("storm", compare) }

func compare(context.Context) error {
	clients, pods := 1000, 1000
	if *harness.Short {
		clients, pods = 50, 100
	}
	fmt.Printf("%d clients, %d Pods\n\n", clients, pods)
	table := harness.NewTable(os.Stdout, "scenario\tclient\trequests\trejected requests\tmax requests in 10 ms\ttime until all are live")
	for _, s := range scenarios {
		table.Row("%s\tlistwatch%s", s.name, columns(play(s, clients, pods, seed)))
		s.clientGo = true
		table.Row("\tclient-go%s", columns(play(s, clients, pods, seed)))
	}
	return table.Flush()
}

// columns returns the table cells of an outcome. Each cell starts with a tab.
func columns(o outcome) string {
	live := "never"
	if o.live < until {
		live = fmt.Sprintf("%.1f s", o.live.Seconds())
	}
	return fmt.Sprintf("\t%d\t%d\t%d\t%s", len(o.arrivals), o.rejected, most(o.arrivals, 10*time.Millisecond), live)
}
