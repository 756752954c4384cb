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
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var scenarios = []scenario{
	{short: "cut", name: "5-minute-old watches are disconnected", age: 5 * time.Minute, happens: cut},
	{short: "outage", name: "10 s offline, resourceVersion expired", age: 20 * time.Second, happens: outage},
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
	results := published.Results{}
	for _, s := range scenarios {
		for _, client := range []string{"listwatch", "client-go"} {
			s.clientGo = client == "client-go"
			o := play(s, clients, pods, seed)
			table.Row("%s\t%s%s", s.name, client, columns(o))
			results.Set(s.short+", requests", client, float64(len(o.arrivals)))
			results.Set(s.short+", most", client, float64(most(o.arrivals, 10*time.Millisecond)))
			results.Set(s.short+", live", client, o.live.Seconds())
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return harness.Save("storm", results)
}

// columns returns the table cells of an outcome. Each cell starts with a tab.
func columns(o outcome) string {
	live := "never"
	if o.live < until {
		live = fmt.Sprintf("%.1f s", o.live.Seconds())
	}
	return fmt.Sprintf("\t%d\t%d\t%d\t%s", len(o.arrivals), o.rejected, most(o.arrivals, 10*time.Millisecond), live)
}
