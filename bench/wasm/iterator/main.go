//go:build js

// Command iterator makes maps of a watch's events with json-iterator, as a program for pages might without listwatch.
package main

import (
	"context"

	jsoniter "github.com/json-iterator/go"
	"github.com/seed-6d2a410a/listwatch/bench/wasm/world"
	"github.com/seed-6d2a410a/listwatch/lw"
)

type event struct {
	Type   string
	Object map[string]any
}

var last map[string]any // as if somebody wanted it

func main() {
	transport := world.Transport()
	for range world.Passes() {
		world.Began()
		body, err := transport.Open(context.Background(), &lw.Request{Path: "/api/v1/pods", Query: "watch=1", Watch: true})
		world.Must(err)
		for decoder := jsoniter.NewDecoder(body); decoder.More(); {
			var e event
			world.Must(decoder.Decode(&e))
			last = e.Object
		}
		world.Must(body.Close())
		world.Ended("decode")
	}
}
