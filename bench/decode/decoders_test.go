package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// TestDecodersAgree checks that every decoder returns the Pods that were encoded.
func TestDecodersAgree(t *testing.T) {
	pods := sample.Pods(1, 3)
	events := encode(pods)
	for _, decoder := range decoders {
		kept := reflect.ValueOf(decoder.run(sample.Loop(events[decoder.format]), 5, 2))
		for i, want := range []sample.Pod{pods[1], pods[0]} { // kept is a ring buffer of length 2, so the fifth event is at index 0
			pod, node := read(t, kept.Index(i).Interface())
			if pod != want.Name || node != want.Node {
				t.Errorf("%s: Pod %d is %s on %s, want %s on %s", decoder.name, i, pod, node, want.Name, want.Node)
			}
		}
	}
}

// read returns the name and the node of a decoded Pod.
func read(t *testing.T, made any) (name, node string) {
	var object lw.Value
	switch made := made.(type) {
	case []byte:
		object = parse(t, made).Get("object")
	case *compact.Object:
		object = made.Object().Get("")
	case *lw.Object:
		object = made.Get("")
	default:
		text, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		object = parse(t, text)
	}
	return object.Get("metadata.name").String(), object.Get("spec.nodeName").String()
}

func parse(t *testing.T, text []byte) lw.Value {
	value, err := lw.ParseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
