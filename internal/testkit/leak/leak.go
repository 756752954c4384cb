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

// Main runs a package's tests, then the cleanups, and exits. It exits with a failure if goroutines remain.
func Main(m *testing.M, cleanups ...func()) {
	code := m.Run()
	for _, cleanup := range cleanups {
		cleanup()
	}
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // the fuzzer leaves goroutines running
	if code == 0 && !fuzzing {
		if err := find(20 * time.Second); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// find returns an error if goroutines still run after the timeout. goleak alone waits only half a second, which is too
// short on a busy machine.
func find(timeout time.Duration) error {
	// On js/wasm the runtime keeps a goroutine that waits for events. No other goroutine has runtime.gopark as its top
	// frame.
	jsEvents := goleak.IgnoreTopFunction("runtime.gopark")
	for deadline := time.Now().Add(timeout); ; {
		if err := goleak.Find(jsEvents); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
