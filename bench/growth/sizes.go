package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/bench/internal/decoders"
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

var sizes = dimension{
	name: "sizes", axis: "bytes of an event", unit: plot.Bytes, inputs: []int{500, 2000, 10_000, 100_000, 1_000_000}, few: []int{500, 20_000},
	title: "What a byte of an event costs, by the object's size",
	note:  "processor time from bytes in memory to an object that can be kept: JSON text here, unstructured there",
	// Each byte is read into a buffer, of which there are larger ones until it has room for the event, and copied out of it.
	works:   []work{{"byte of a decoded event", plot.Nanoseconds, 5}},
	machine: copies, columns: 2,
	run: func(t task) result {
		name, bytes := decoders.Listwatch, 300_000_000 // of one watch
		if t.Contender != stores.Names[0] {
			name, bytes = decoders.Unstructured, 20_000_000
		}
		all := decoders.All()
		decoder := all[slices.IndexFunc(all, func(d decoders.Decoder) bool { return d.Name == name })]
		if t.Short {
			bytes = 200_000
		}
		event, events := sized(t.Input), bytes/t.Input
		cost := perUnit(1, events*len(event), func(int) {
			decoder.Run(&again{text: event}, events, 10)
		})
		return result{Costs: map[string]measured{"byte of a decoded event": cost}, Bytes: measure.Heap()}
	},
}

// sized is an event of about so many bytes. What grows is a container's environment.
func sized(bytes int) string {
	var environment strings.Builder
	for i := 0; 400+environment.Len() < bytes; i++ {
		fmt.Fprintf(&environment, `,{"name":"UPSTREAM_%d","value":"http://backend-%d.billing.svc:8080/v1"}`, i, i)
	}
	return `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"some-workload-5d8f9c7b6d-x7x2p","namespace":"team-7",` +
		`"uid":"0b7a1c1e-6d5f-4f0e-8c1d-2f6a3b9c7d10","resourceVersion":"1000000","labels":{"app":"some-workload"}},"spec":{"nodeName":"node-7",` +
		`"containers":[{"name":"main","image":"registry.example.com/app:1","env":[{"name":"PORT","value":"8080"}` + environment.String() +
		`]}]},"status":{"phase":"Running"}}}` + "\n"
}

// again gives the same text again and again.
type again struct {
	text string
	at   int
}

func (a *again) Read(p []byte) (int, error) {
	if a.at == len(a.text) {
		a.at = 0
	}
	n := copy(p, a.text[a.at:])
	a.at += n
	return n, nil
}
