package compact

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain fails the package if its tests leave goroutines behind, as a compressor that is not closed might.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	if runtime.GOOS == "js" {
		before++ // the one that brings the timer's events, whenever we look
	}
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // the fuzzer leaves some of its own
	for end := time.Now().Add(20 * time.Second); code == 0 && !fuzzing && runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			fmt.Fprintln(os.Stderr, "goroutines were left behind:")
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			code = 1
		}
	}
	os.Exit(code)
}
