// Package task holds the code that the programs of bench/list share.
package task

import (
	"context"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// Task is to read one list.
type Task struct {
	Way  string // of reading, if the program has several
	URL  string
	Pods int // in the list
}

// Result is the cost: seconds of CPU time, and the peak RSS of the process in bytes.
type Result struct{ CPU, Peak float64 }

// Held is the number of objects that were read, and the value that keeps them reachable.
type Held struct {
	N  int
	By any
}

const patience = 3 * time.Minute // a list that takes longer has failed

// Main does the task of this process. Each way of reading returns when it holds all objects.
func Main(ways map[string]func(ctx context.Context, url string) Held) {
	worked := harness.Work(harness.Worker("read", func(t Task) Result {
		ctx, stop := context.WithTimeout(context.Background(), patience)
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
		panic("bench/list runs this program")
	}
}
