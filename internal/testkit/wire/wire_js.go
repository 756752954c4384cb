// Package wire tells tests that run as WebAssembly of the server that was started beside them.
package wire

import (
	"os"
	"testing"
)

// URL returns the server's URL. Who runs the tests starts it: make test-wasm does.
func URL(t *testing.T) string {
	url := os.Getenv("LISTWATCH_WIRE")
	if url == "" {
		t.Fatal("there is no server: run the tests by make test-wasm")
	}
	return url
}
