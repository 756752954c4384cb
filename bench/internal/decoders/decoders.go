// Package decoders holds the decoders of watch events that bench/decode and bench/retained compare.
package decoders

import (
	"io"
	"slices"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// Names of the decoders that have a target.
const (
	Listwatch    = "listwatch, lw.RawCodec"
	Projected    = "listwatch, ten fields"
	Compact      = "listwatch, cache/compact"
	Floor        = "find the newline, copy the line"
	Unstructured = "client-go, unstructured"
	Typed        = "client-go, *corev1.Pod of JSON"
	Protobuf     = "client-go, *corev1.Pod of protobuf"
)

// Decoder decodes the events of a watch.
type Decoder struct {
	Name   string
	format format
	// Run decodes n events. It returns a slice of the last objects, which has the length held.
	Run func(events io.Reader, n, held int) (objects any)
}

// All returns all decoders. The first one is the one of lw.Client.
func All() []Decoder {
	return slices.Concat(listwatch(), jsonIterator(), clientGo())
}

// Stream returns an endless stream of the events, in the format that the decoder reads.
func (d Decoder) Stream(events *Events) io.Reader { return sample.Loop(events.encoded(d.format)) }

// EventSize returns the average size of an event in bytes, in the format that the decoder reads.
func (d Decoder) EventSize(events *Events) int {
	return len(events.encoded(d.format)) / len(events.pods)
}

// newDecoder returns a decoder. decode must read n events and pass the object of each to keep.
func newDecoder[T any](name string, format format, decode func(events io.Reader, n int, keep func(T))) Decoder {
	return Decoder{name, format, func(events io.Reader, n, held int) any {
		objects, i := make([]T, held), 0
		decode(events, n, func(object T) {
			objects[i%held] = object
			i++
		})
		if i != n {
			panic("a decoder lost events")
		}
		return objects
	}}
}
