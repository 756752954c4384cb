//go:build !js

package main

import (
	"math/rand/v2"
	"regexp"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// fill makes n Pods of 6 kB, of which touch changes some.
func (c *cluster) fill(n int) error {
	c.pods = sample.Pods(1, n)
	for _, pod := range c.pods {
		if _, err := c.Put("pods", written(pod)); err != nil {
			return err
		}
	}
	return nil
}

// touch changes the phases of n Pods.
func (c *cluster) touch(random *rand.Rand, n int) error {
	phases := []string{"Pending", "Running", "Succeeded", "Failed"}
	for range n {
		pod := c.pods[random.IntN(len(c.pods))]
		pod.Phase = phases[random.IntN(len(phases))]
		if _, err := c.Put("pods", written(pod)); err != nil {
			return err
		}
	}
	return nil
}

var given = regexp.MustCompile(`"(uid|resourceVersion)":"[^"]*",`)

// written is a Pod's text as a client writes it: without what the server gives.
func written(pod sample.Pod) string { return given.ReplaceAllString(pod.Item(), "") }

// kind is what a test adds while a page is open.
func kind(plural string) lwtest.Resource {
	return lwtest.Resource{Group: "example.com", Kind: "Gadget", Plural: plural, Namespaced: true}
}
