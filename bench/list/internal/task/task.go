// Package task provides the code that the programs of bench/list share.
package task

import (
	"context"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// Task describes the list that a process reads.
type Task struct {
	Way  string // key of the function that reads the list; see Main
	URL  string
	Pods int // the expected number of Pods
}

// Result contains the cost of reading a list: CPU time in seconds, and the peak RSS of the process in bytes.
type Result struct{ CPU, Peak float64 }

// Held contains the number of objects that were read, and a value that keeps them in memory.
type Held struct {
	N  int
	By any
}

const timeout = 3 * time.Minute

// Main runs the task of this process. The map contains functions that read the list at a URL and return all of its
// objects. Main panics if an object is missing.
func Main(ways map[string]func(ctx context.Context, url string) Held) {
	worked := harness.Work(harness.Worker("read", func(t Task) Result {
		ctx, stop := context.WithTimeout(context.Background(), timeout)
		defer stop()
		before := harness.CPUTime()
		held := ways[t.Way](ctx, t.URL)
		r := Result{(harness.CPUTime() - before).Seconds(), harness.PeakRSS()}
		if held.N != t.Pods {
			panic("the list is incomplete")
		}
		runtime.KeepAlive(held)
		return r
	}))
	if !worked {
		panic("run bench/list instead of this program")
	}
}
