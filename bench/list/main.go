// Command list measures the cost of syncing an informer of 17,736 Pods, which are 114 MB of JSON. It prints the CPU
// time, including garbage collection, and the peak RSS. The server runs in a separate process and encodes its responses
// in advance. Each measurement runs in a new process.
//
// All clients request resourceVersion "0" and pages of 500 Pods. Like a kube-apiserver with a watch cache, the server
// responds with one page. It rejects streaming lists in the first part of the table and serves them in the second part.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/list/internal/task"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var (
	pods   = flag.Int("pods", 17_736, "number of Pods")
	rounds = flag.Int("rounds", 3, "number of rounds; the median is printed")
)

// contender is an informer in one of the programs. way is the key of the informer in the map that the program passes to
// task.Main.
type contender struct {
	name, program, way  string
	protobuf, streaming bool // whether the informer requests protobuf, and whether it is also measured with streaming lists
}

const listwatch = "listwatch: informer, lw.RawCodec"

var contenders = []contender{
	{name: listwatch, program: "listwatch", streaming: true},
	{name: "client-go: dynamic informer", program: "clientgo", way: "dynamic", streaming: true},
	{name: "client-go: typed informer, JSON", program: "clientgo", way: "JSON", streaming: true},
	{name: "client-go: typed informer, protobuf", program: "clientgo", way: "protobuf", protobuf: true},
}

// measurement is a contender, the path of the list that it reads, and its results.
type measurement struct {
	contender
	path    string // asOneBody or asStream
	results []task.Result
}

func main() { harness.Main("list", compare, harness.Server("server", startServer)) }

func compare(ctx context.Context) error {
	if *harness.Short {
		*pods, *rounds = 200, 1
	}
	var server address
	stop, err := harness.Serve(ctx, "server", *pods, &server)
	if err != nil {
		return err
	}
	defer stop()
	programs, err := harness.Build(ctx, "./list/...")
	if err != nil {
		return err
	}
	defer programs.Remove()
	all := measurements()
	name := func(m *measurement) string { return m.path + ", " + m.name }
	err = harness.Rounds(*rounds, all, name, func(m *measurement) error {
		var one task.Result
		t := task.Task{Way: m.way, URL: server.URL + m.path, Pods: *pods}
		err := harness.RunProgram(ctx, programs.Path(m.program), "read", t, &one)
		m.results = append(m.results, one)
		return err
	})
	if err != nil {
		return err
	}
	return printAll(all, server)
}

func measurements() (all []*measurement) {
	for _, path := range []string{asOneBody, asStream} {
		for _, c := range contenders {
			if path == asOneBody || c.streaming {
				all = append(all, &measurement{contender: c, path: path})
			}
		}
	}
	return all
}

func printAll(all []*measurement, server address) error {
	table := harness.NewTable(os.Stdout, fmt.Sprintf("%d Pods\tMB received\tCPU s\tratio\tpeak MB\tpeak / received", *pods))
	titles := map[string]string{asOneBody: "one response", asStream: "streaming list"}
	results := published.Results{}
	for _, path := range []string{asOneBody, asStream} {
		for _, c := range contenders { // figures that are not measured remain empty
			results.Set("CPU time, "+titles[path], c.name)
			results.Set("peak RSS, "+titles[path], c.name)
		}
	}
	var first float64
	for _, m := range all {
		cpu := harness.MedianOf(m.results, func(r task.Result) float64 { return r.CPU })
		peak := harness.MedianOf(m.results, func(r task.Result) float64 { return r.Peak })
		body := server.Bytes[bodyName(m.path, m.protobuf)]
		if m.name == listwatch {
			first = cpu
			table.Row("%s\t\t\t\t\t", titles[m.path])
		}
		table.Row("  %s\t%.0f\t%.2f\t%.1f\t%.0f\t%.2f",
			m.name, body/1e6, cpu, cpu/first, peak/1e6, peak/body)
		results.Set("CPU time, "+titles[m.path], m.name, cpu)
		results.Set("peak RSS, "+titles[m.path], m.name, peak/1e6)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return harness.Save("list", results)
}
