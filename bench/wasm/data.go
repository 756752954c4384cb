package main

import (
	"bytes"

	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

// newEvents is a watch of so many Pods that were each modified some times, and then again: whoever reads it a second time
// finds another version of each. Every fifth change moves the Pod to another node.
func newEvents(pods, times int) []byte {
	all := sample.Pods(7, pods)
	var text bytes.Buffer
	for time := range times {
		for i, pod := range all {
			pod.ResourceVersion += uint64(time * pods)
			if (i+time)%5 == 0 {
				pod.Node = all[(i+1)%pods].Node
			}
			text.WriteString(pod.Event("MODIFIED"))
		}
	}
	return text.Bytes()
}

func newList(pods int) []byte {
	var text bytes.Buffer
	text.WriteString(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000"},"items":[`)
	for i, pod := range sample.Pods(7, pods) {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(pod.Item())
	}
	text.WriteString("]}\n")
	return text.Bytes()
}
