// Package task runs the measurements of the programs that bench/list builds.
package task

import (
	"context"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// Task describes one measurement of a list.
type Task struct {
	Way  string // key in the map that is passed to Main
	URL  string
	Pods int // expected number of Pods
}

// Result contains the CPU time in seconds for reading a list, and the peak RSS of the process in bytes.
type Result struct{ CPU, Peak float64 }

// Held is a list in memory. N is the number of objects, and By is a value that keeps them in memory.
type Held struct {
	N  int
	By any
}

const timeout = 3 * time.Minute

// Main runs the task of this process. Each function in ways reads the list at url and returns its objects. Main panics
// if the number of objects is wrong.
func Main(ways map[string]func(ctx context.Context, url string) Held) {
	worked := harness.Work(harness.Worker("read", func(t Task) Result {
		ctx, stop := context.WithTimeout(context.Background(), timeout)
		defer stop()
		before := harness.CPUTime()
		held := ways[t.Way](ctx, t.URL)
		r := Result{(harness.CPUTime() - before).Seconds(), harness.PeakRSS()}
		if held.N != t.Pods {
			panic("the list has the wrong number of objects")
		}
		runtime.KeepAlive(held)
		return r
	}))
	if !worked {
		panic("this program only works as part of a benchmark; run bench/list instead")
	}
}
