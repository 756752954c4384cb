package main

import (
	"bytes"

	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// newEvents returns a watch in which each Pod is modified several times. A second pass over the events therefore finds a
// different resourceVersion of each Pod in the store. Every fifth event moves a Pod to another node.
func newEvents(pods, times int) []byte {
	all := sample.Pods(7, pods)
	var events bytes.Buffer
	for time := range times {
		for i, pod := range all {
			pod.ResourceVersion += uint64(time * pods)
			if (i+time)%5 == 0 {
				pod.Node = all[(i+1)%pods].Node
			}
			events.WriteString(pod.Event("MODIFIED"))
		}
	}
	return events.Bytes()
}

func newList(pods int) []byte { return serve.List(sample.Pods(7, pods), "2000000") }
