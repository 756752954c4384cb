// Million lists 1,000,000 Pods into the compact store: from the embedded API server of lw/lwtest, over loopback, by a streaming
// list, each Pod of 6.5 kB with its managedFields. It prints how long that took, what processor time, and what memory. The
// server has a process of its own, and holds the Pods' names only: it makes each Pod when it sends it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

var (
	pods      = flag.Int("pods", 1_000_000, "how many there are")
	templates = flag.Int("templates", 1000, "of how many templates they are, each with an environment, images and arguments of its own")
	short     = flag.Bool("short", false, "2,000 Pods, only to see that all works")
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "server" {
		var c collection
		measure.Must(json.Unmarshal([]byte(os.Args[2]), &c))
		serve(c)
		return
	}
	if measure.Worker("client", list) {
		return
	}
	flag.Parse()
	if *short {
		*pods, *templates = 2000, 100
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, collection{*pods, *templates}); err != nil {
		fmt.Fprintln(os.Stderr, "million:", err)
		os.Exit(1)
	}
}

// collection is what the server has.
type collection struct{ Pods, Templates int }

// source makes them.
func (c collection) source() *sample.Source { return sample.NewSource(1, c.Templates) }

func run(ctx context.Context, c collection) error {
	given, err := json.Marshal(c)
	if err != nil {
		return err
	}
	server, err := measure.Start(ctx, "server", string(given))
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintf(os.Stderr, "the server names %d Pods\n", c.Pods)
	var at address
	if err := server.Hear(&at); err != nil {
		return err
	}
	var r result
	if err := measure.Apart(ctx, "client", task{c, at.URL}, &r); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Pods in the store\t%d\n", c.Pods)
	fmt.Fprintf(w, "GB of JSON that were listed\t%.2f\n", at.Bytes/1e9)
	fmt.Fprintf(w, "seconds until it was synced\t%.1f\n", r.Clock)
	fmt.Fprintf(w, "seconds of processor time\t%.1f\n", r.CPU)
	fmt.Fprintf(w, "µs of processor time for a Pod\t%.0f\n", r.CPU*1e6/float64(c.Pods))
	fmt.Fprintf(w, "GB of memory at most\t%.2f\n", r.Peak/1e9)
	fmt.Fprintf(w, "bytes of heap for a Pod\t%.0f\n", r.Heap/float64(c.Pods))
	return w.Flush()
}
