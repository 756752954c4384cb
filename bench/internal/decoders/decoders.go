// Package decoders has the ways in which clients make objects of a watch's bytes: what bench/decode and bench/retained compare.
package decoders

import (
	"io"
	"slices"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// The names of those for which something was asked for.
const (
	Listwatch    = "listwatch, lw.RawCodec"
	Projected    = "listwatch, ten fields"
	Compact      = "listwatch, cache/compact"
	Floor        = "find the newline, copy the line"
	Unstructured = "client-go, unstructured"
	Typed        = "client-go, *corev1.Pod of JSON"
	Protobuf     = "client-go, *corev1.Pod of protobuf"
)

// Decoder makes objects of a watch's events.
type Decoder struct {
	Name string
	form form
	// Run decodes n events, and returns a slice of the last objects that were made, as many as are to be held.
	Run func(events io.Reader, n, held int) (kept any)
}

// All are the decoders, listwatch's first.
func All() []Decoder {
	return slices.Concat(ours(), jsonIterators(), clientGos())
}

// Stream gives the events in the form that the decoder reads, again and again.
func (d Decoder) Stream(events *Events) io.Reader { return &loop{text: events.in(d.form)} }

// Bytes is the size of one event in the form that the decoder reads, on average.
func (d Decoder) Bytes(events *Events) int { return len(events.in(d.form)) / len(events.pods) }

// of returns a decoder that calls keep with each of n objects.
func of[T any](name string, form form, decode func(events io.Reader, n int, keep func(T))) Decoder {
	return Decoder{name, form, func(events io.Reader, n, held int) any {
		kept, i := make([]T, held), 0
		decode(events, n, func(object T) {
			kept[i%held] = object
			i++
		})
		if i != n {
			panic("a decoder lost events")
		}
		return kept
	}}
}

// closer is a body that nothing need be done for to close it.
type closer struct{ io.Reader }

func (closer) Close() error { return nil }

func must[T any](value T, err error) T {
	measure.Must(err)
	return value
}
