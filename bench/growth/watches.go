package main

import (
	"context"

	"github.com/seed-6d2a410a/listwatch/bench/internal/informers"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

var watches = dimension{
	name: "watches", axis: "watches", inputs: []int{1, 10, 100, 1000, 10_000}, few: []int{1, 20},
	title: "What an event and an idle watch cost, by the number of watches",
	note:  "informers over loopback and HTTP/1.1; an event of a Pod of 6.5 kB, to two handlers",
	// A watch that was idle: its goroutines' stacks, the connection's structs here and in the kernel, the poller, buffers,
	// the client's, the scanner's, the informer's and its queues', and the store's of one Pod.
	works: []work{
		{"event", plot.Nanoseconds, 200},
		{"heap and stacks of an idle watch", plot.Bytes, 0},
	},
	machine: memory, columns: 2,
	run: func(t task) result {
		measure.Must(informers.Room(t.Input))
		given := informers.Task{Contender: t.Contender, Transport: informers.HTTP1, Watches: t.Input, Pods: 1000, Events: 100_000}
		if t.Contender != stores.Names[0] {
			given.Events = 5_000 // each takes much longer
		}
		if t.Short {
			given.Pods, given.Events = 20, 400
		}
		found, err := informers.Measure(context.Background(), given)
		measure.Must(err)
		r := result{Costs: map[string]measured{"event": {Cost: found.CPU}}, Bytes: max(found.BytesAfter*float64(t.Input), 1e6)}
		if found.Bytes > 0 { // what a single one takes is lost in what the runtime rounds up
			r.Costs["heap and stacks of an idle watch"] = measured{Cost: found.Bytes}
		}
		return r
	},
}
