package main

import (
	"strconv"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// address is the address of the server.
type address struct {
	URL   string
	Bytes float64 // of all Pods in a list
}

func startServer(c collection) address {
	server := harness.MustGet(lwtest.Start(nil))
	source, bytes := c.source(), 0
	const weighed = 1000 // Pods whose mean size is taken for all
	harness.Must(server.PlayMade("pods", func(yield func(lwtest.Made) bool) {
		for i := range c.Pods {
			pod := source.Pod(i)
			if i < weighed {
				bytes += len(pod.Item())
			}
			render := func(version string) []byte {
				pod := source.Pod(i)
				pod.ResourceVersion, _ = strconv.ParseUint(version, 10, 64) // the server's versions are numbers
				return []byte(pod.Item())
			}
			if !yield(lwtest.Made{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, JSON: render}) {
				return
			}
		}
	}))
	return address{server.URL, float64(bytes) / float64(min(weighed, c.Pods)) * float64(c.Pods)}
}
