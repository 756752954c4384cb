// Million lists 1,000,000 Pods of 6.5 kB into cache/compact, with a streaming list over loopback from the embedded API server of
// lw/lwtest. It prints the wall time, the CPU time and the memory. The server is a process of its own. It holds only the names of
// the Pods and renders a Pod when it sends it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

var (
	pods      = flag.Int("pods", 1_000_000, "number of Pods")
	templates = flag.Int("templates", 1000, "number of templates, each with its own environment, images and arguments")
)

func main() {
	harness.Main("million", measure, harness.Server("server", startServer), harness.Worker("client", list))
}

// collection describes the Pods of the server.
type collection struct{ Pods, Templates int }

func (c collection) source() *sample.Source { return sample.NewSource(1, c.Templates) }

func measure(ctx context.Context) error {
	if *harness.Short {
		*pods, *templates = 2000, 100
	}
	c := collection{*pods, *templates}
	fmt.Fprintf(os.Stderr, "starting a server with %d Pods\n", c.Pods)
	var server address
	stop, err := harness.Serve(ctx, "server", c, &server)
	if err != nil {
		return err
	}
	defer stop()
	var r result
	if err := harness.Run(ctx, "client", task{c, server.URL}, &r); err != nil {
		return err
	}
	table := harness.NewTable(os.Stdout, fmt.Sprintf("Pods in the store\t%d", c.Pods))
	table.Row("JSON of the list, GB\t%.2f", server.Bytes/1e9)
	table.Row("wall time, s\t%.1f", r.Wall)
	table.Row("CPU time, s\t%.1f", r.CPU)
	table.Row("CPU time per Pod, µs\t%.0f", r.CPU*1e6/float64(c.Pods))
	table.Row("peak RSS, GB\t%.2f", r.Peak/1e9)
	table.Row("heap per Pod, bytes\t%.0f", r.Heap/float64(c.Pods))
	return table.Flush()
}
