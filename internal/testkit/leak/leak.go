// Package leak makes a package's tests fail if goroutines remain after the last test.
package leak

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Main runs a package's tests, calls cleanups and exits. It exits with a failure if goroutines remain.
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

// find waits until no unexpected goroutines are left, or returns an error after the timeout. goleak alone waits
// only half a second, which is too short on a busy machine.
func find(timeout time.Duration) error {
	// On js/wasm, the runtime keeps one goroutine that waits for events. Only that goroutine has runtime.gopark as its top
	// frame.
	jsEvents := goleak.IgnoreTopFunction("runtime.gopark")
	for deadline := time.Now().Add(timeout); ; {
		if err := goleak.Find(jsEvents); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
