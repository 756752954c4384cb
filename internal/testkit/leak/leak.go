// Package leak fails a package's tests if goroutines remain after them.
package leak

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Main runs a package's tests and then the cleanups. It fails if goroutines remain. It does not return.
func Main(m *testing.M, cleanups ...func()) {
	code := m.Run()
	for _, cleanup := range cleanups {
		cleanup()
	}
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // The fuzzer itself leaves goroutines.
	if code == 0 && !fuzzing {
		if err := find(20 * time.Second); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// find returns an error if goroutines remain after a timeout. goleak itself waits for half a second only, which is too short
// on a busy machine.
func find(timeout time.Duration) error {
	// On js/wasm the runtime has a goroutine that waits for events. Other goroutines do not show frames of the runtime on top.
	jsEvents := goleak.IgnoreTopFunction("runtime.gopark")
	for deadline := time.Now().Add(timeout); ; {
		if err := goleak.Find(jsEvents); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
