// Package task is what a program that reads a list has in common with the others.
package task

import (
	"context"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// Task is one list.
type Task struct {
	Contender string // which, if the program has several
	URL       string
	Pods      int // that must be there in the end
}

// Result is what it cost, in seconds of processor time and bytes of memory at the peak, the program's own included.
type Result struct{ CPU, Peak float64 }

// Held is how many objects there are, and what keeps them alive.
type Held struct {
	N  int
	By any
}

const patience = 3 * time.Minute // after which a list has failed; nothing comes near

// Main carries out the task that this process was given, by one of the contenders: each reads what the URL lists until it
// holds all of it.
func Main(contenders map[string]func(ctx context.Context, url string) Held) {
	worked := measure.Worker("read", func(t Task) Result {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		before := measure.ProcessorTime()
		held := contenders[t.Contender](ctx, t.URL)
		r := Result{(measure.ProcessorTime() - before).Seconds(), measure.PeakRSS()}
		if held.N != t.Pods {
			panic("not all Pods are there")
		}
		runtime.KeepAlive(held)
		return r
	})
	if !worked {
		panic("bench/list runs this program")
	}
}
