// Package leak finds goroutines that tests leave behind.
package leak

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// Main runs a package's tests, calls what ends the goroutines that they may leave, and fails if there are others. It does not
// return.
func Main(m *testing.M, ends ...func()) {
	before := runtime.NumGoroutine()
	if runtime.GOOS == "js" {
		before++ // the one that brings the timer's events, whenever we look
	}
	code := m.Run()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		os.Exit(code) // the fuzzer leaves some of its own
	}
	for _, end := range ends {
		end()
	}
	if code == 0 && !settled(before) {
		fmt.Fprintln(os.Stderr, "goroutines were left behind:")
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	os.Exit(code)
}

// Check fails a test that leaves goroutines behind. Call it first, so that it looks last.
func Check(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !settled(before) {
			t.Error("goroutines were left behind")
		}
	})
}

// settled waits until there are no more goroutines than before, for a time that only what is broken takes.
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
