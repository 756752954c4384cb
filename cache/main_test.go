package cache

import (
	"flag"
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
	if runtime.GOOS == "js" {
		before++ // the one that brings the timer's events, whenever we look
	}
	code := m.Run()
	if fuzz := flag.Lookup("test.fuzz"); fuzz.Value.String() != "" {
		os.Exit(code) // the fuzzer leaves some of its own
	}
	if code == 0 && !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		fmt.Fprintln(os.Stderr, "goroutines were left behind:")
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	os.Exit(code)
}

// eventually polls until a condition holds, for a time that only what is broken takes.
func eventually(condition func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !condition(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
