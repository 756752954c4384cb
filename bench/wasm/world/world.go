//go:build js

// Package world is what page/world.mjs has for programs: what to do, streams, and a stopwatch.
package world

import (
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Course is the number of what is to be done, in page/world.mjs.
//
//go:wasmimport bench course
func Course() int32

// Passes is how often.
//
//go:wasmimport bench passes
func Passes() int32

// Began and Ended enclose what is measured.
//
//go:wasmimport bench began
func Began()

//go:wasmimport bench ended
func Ended(figure string)

// Tell tells a figure that is not a time.
//
//go:wasmimport bench tell
func Tell(figure string, value float64)

// Transport is that of the package, over fetch, of which page/world.mjs gives the answers.
func Transport() lw.Transport {
	transport, err := lwhttp.New("http://server", nil)
	Must(err)
	return transport
}

// Must panics with the error, if there is one.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
