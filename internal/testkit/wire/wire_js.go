// Package wire provides the URL of the test server to tests that run as WebAssembly.
package wire

import (
	"os"
	"testing"
)

// URL returns the URL of the test server that was started by make test-wasm.
func URL(t *testing.T) string {
	url := os.Getenv("LISTWATCH_WIRE")
	if url == "" {
		t.Fatal("LISTWATCH_WIRE is not set; run the tests with make test-wasm")
	}
	return url + "/wire"
}
