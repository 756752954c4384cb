package http_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain fails the package if its tests leave goroutines behind.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if code == 0 && !settled(before) {
		fmt.Fprintln(os.Stderr, "goroutines were left behind:")
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	os.Exit(code)
}

// settled waits until there are no more goroutines than before.
func settled(before int) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// leaveNothing fails a test that leaves goroutines behind. Call it first, so that it looks last.
func leaveNothing(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !settled(before) {
			t.Error("goroutines were left behind")
		}
	})
}
