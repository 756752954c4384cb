package main

import (
	"os"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// address is where the server is found, as one line on its standard output.
type address struct {
	URL   string
	Bytes float64 // of all Pods, as a list shows them
}

// serve runs until standard input ends, which it does with the process that started this one.
func serve(c collection) {
	s, err := lwtest.Start(nil)
	measure.Must(err)
	source, bytes := c.source(), 0
	const weighed = 1000 // Pods, for their mean
	measure.Must(s.PlayMade("pods", func(yield func(lwtest.Made) bool) {
		for i := range c.Pods {
			pod := source.Pod(i)
			if i < weighed {
				bytes += len(pod.Item())
			}
			if !yield(lwtest.Made{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, JSON: func(version string) []byte {
				pod := source.Pod(i)
				pod.ResourceVersion, _ = strconv.ParseUint(version, 10, 64)
				return []byte(pod.Item())
			}}) {
				return
			}
		}
	}))
	measure.Say(address{s.URL, float64(bytes) / float64(min(weighed, c.Pods)) * float64(c.Pods)})
	_, _ = os.Stdin.Read(make([]byte, 1))
}
