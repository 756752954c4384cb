// List compares what it costs to read a list of 17,736 Pods, 114 MB of JSON in one body, until an informer has synced and its
// store holds them all: processor time, the collector's included, and the peak of memory. The server is a process of its
// own, which has serialized the bodies before; each contender is one, too, for each measurement.
//
// All ask for version "0" and pages of 500, which a kube-apiserver answers from its cache in one piece, as the server here
// does. Both sides' informers would rather have a streaming list, which they are given in the second half of the table; of
// the first half's server they are told that it knows none.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/list/internal/task"
)

var (
	pods   = flag.Int("pods", 17_736, "how many there are")
	rounds = flag.Int("rounds", 3, "how often all is measured, in turns; the medians are printed")
	short  = flag.Bool("short", false, "little work, only to see that all works")
)

// contender is a program, and which of its ways of reading.
type contender struct {
	name, program, way string
	protobuf, streams  bool // what it asks for, and whether it is measured with streaming lists, too
}

const (
	listwatch    = "listwatch: informer, lw.RawCodec"
	unstructured = "client-go: dynamic informer"
	typed        = "client-go: typed informer, JSON"
)

var contenders = []contender{
	{name: listwatch, program: "listwatch", streams: true},
	{name: "json-iterator: Decoder, a map of map[string]any", program: "jsoniterator"},
	{name: unstructured, program: "clientgo", way: "dynamic", streams: true},
	{name: typed, program: "clientgo", way: "JSON", streams: true},
	{name: "client-go: typed informer, protobuf", program: "clientgo", way: "protobuf", protobuf: true},
}

// measured is what a contender's lists have cost.
type measured struct {
	contender
	from    string // the way in which the server gives the collection
	results []task.Result
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "server" {
		serve(os.Args[2])
		return
	}
	flag.Parse()
	if *short {
		*pods, *rounds = 200, 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	measure.Must(compare(ctx))
}

// compare measures everything, in turns.
func compare(ctx context.Context) error {
	server, err := measure.Start(ctx, "server", fmt.Sprint(*pods))
	if err != nil {
		return err
	}
	defer server.Close()
	var given address
	if err := server.Hear(&given); err != nil {
		return err
	}
	programs, err := measure.Build(ctx, "./list/...")
	if err != nil {
		return err
	}
	defer programs.Remove()
	all := measurements()
	for round := range *rounds {
		for i := range all {
			m := &all[i]
			fmt.Fprintf(os.Stderr, "round %d of %d: %s, %s\n", round+1, *rounds, m.from, m.name)
			var one task.Result
			t := task.Task{Contender: m.way, URL: given.URL + m.from, Pods: *pods}
			if err := measure.ApartBy(ctx, programs.Path(m.program), "read", t, &one); err != nil {
				return err
			}
			m.results = append(m.results, one)
		}
	}
	return print(all, given)
}

func measurements() (all []measured) {
	for _, from := range []string{oneBody, streamed} {
		for _, c := range contenders {
			if from == oneBody || c.streams {
				all = append(all, measured{contender: c, from: from})
			}
		}
	}
	return all
}

// asked are the ratios of processor time to listwatch's that were asked for, of a list in one body.
var asked = map[string]float64{unstructured: 20, typed: 10}

var titles = map[string]string{oneBody: "a list in one body", streamed: "a streaming list"}

func print(all []measured, given address) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d Pods\tMB on the wire\ts\tratio\tMB at the peak\ttimes the body\tasked\n", *pods)
	var first float64
	for _, m := range all {
		cpu, peak := m.median(func(r task.Result) float64 { return r.CPU }), m.median(func(r task.Result) float64 { return r.Peak })
		body := given.Bytes[key(m.from, m.protobuf)]
		if m.name == listwatch {
			first = cpu
			fmt.Fprintf(w, "%s\t\t\t\t\t\t\n", titles[m.from])
		}
		fmt.Fprintf(w, "  %s\t%.0f\t%.2f\t%.1f\t%.0f\t%.2f\t%s\n",
			m.name, body/1e6, cpu, cpu/first, peak/1e6, peak/body, m.verdict(cpu/first, peak < body))
	}
	return w.Flush()
}

func (m measured) verdict(ratio float64, belowBody bool) string {
	switch want := asked[m.name]; {
	case *short, m.from != oneBody:
	case m.name == listwatch:
		return measure.Asked("less memory than the body", belowBody)
	case want > 0:
		return measure.Asked(fmt.Sprintf("at least %.0f", want), ratio >= want)
	}
	return ""
}

func (m measured) median(figure func(task.Result) float64) float64 {
	var values []float64
	for _, r := range m.results {
		values = append(values, figure(r))
	}
	return measure.Median(values)
}
