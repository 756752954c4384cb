// Workqueue compares the work queue with client-go's, at the same work in one run. It prints what one key costs in processor
// time, the collector's included, and the ratio.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

var (
	keys   = flag.Int("keys", 200_000, "how many there are")
	rounds = flag.Int("rounds", 5, "how often all is measured, in turns; the medians are printed")
	short  = flag.Bool("short", false, "little work, only to see that all works")
)

// contender is a queue of keys.
type contender interface {
	add(key string)
	addAfter(key string, delay time.Duration)
	retry(key string)
	work(ctx context.Context, body func(key string)) // until ctx ends or the queue is closed and empty
	close()
}

// works are what is measured, each with the number of keys that went through.
var works = []struct {
	name string
	do   func(c contender, names []string) int
}{
	{"add, take and end, of different keys", func(c contender, names []string) int {
		for _, name := range names {
			c.add(name)
		}
		return drain(c, 1)
	}},
	{"add a key that is there already", func(c contender, names []string) int {
		c.add(names[0])
		for range names {
			c.add(names[0])
		}
		drain(c, 1)
		return len(names)
	}},
	{"the same with 8 workers while keys are added", func(c contender, names []string) int {
		var adding sync.WaitGroup
		adding.Go(func() {
			for _, name := range names {
				c.add(name)
			}
			c.close()
		})
		workers(c, 8, func(string) {})
		adding.Wait()
		return len(names)
	}},
	{"fail once, with a delay, and succeed", func(c contender, names []string) int {
		ctx, stop := context.WithCancel(context.Background())
		var mu sync.Mutex
		succeeded, failed := 0, make(map[string]bool, len(names))
		for _, name := range names {
			c.add(name)
		}
		workersUntil(ctx, c, 2, func(name string) {
			mu.Lock()
			defer mu.Unlock()
			if !failed[name] {
				failed[name] = true
				c.retry(name)
			} else if succeeded++; succeeded == len(names) {
				stop()
			}
		})
		return len(names)
	}},
}

// drain works on all that is there.
func drain(c contender, n int) (worked int) {
	c.close()
	workers(c, n, func(string) { worked++ })
	return worked
}

func workers(c contender, n int, body func(string)) {
	workersUntil(context.Background(), c, n, body)
}

func workersUntil(ctx context.Context, c contender, n int, body func(string)) {
	var group sync.WaitGroup
	for range n {
		group.Go(func() { c.work(ctx, body) })
	}
	group.Wait()
}

func main() {
	flag.Parse()
	if *short {
		*keys, *rounds = 1000, 1
	}
	names := make([]string, *keys)
	for i := range names {
		names[i] = "namespace-" + strconv.Itoa(i%1000) + "/some-workload-5d8f9c7b6d-" + strconv.Itoa(i)
	}
	times := map[string][2][]float64{}
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		for _, work := range works {
			both := times[work.name]
			for side, c := range []contender{newOurs(), newClientGo()} {
				both[side] = append(both[side], perKey(func() int { return work.do(c, names) }))
				c.close()
			}
			times[work.name] = both
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ns a key\tlistwatch\tclient-go\tratio")
	for _, work := range works {
		line(w, work.name, measure.Median(times[work.name][0]), measure.Median(times[work.name][1]))
	}
	line(w, "bytes a key that is delayed", sizeOf(newOurs(), names), sizeOf(newClientGo(), names))
	w.Flush()
}

func line(w *tabwriter.Writer, name string, mine, other float64) {
	fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f\n", name, mine, other, mine/other)
}

// perKey returns the processor time a key.
func perKey(do func() int) float64 {
	runtime.GC()
	began := measure.ProcessorTime()
	n := do()
	if n < *keys {
		panic("keys were lost")
	}
	return float64((measure.ProcessorTime() - began).Nanoseconds()) / float64(n)
}

// sizeOf returns the bytes of a queue in which every key waits for its time.
func sizeOf(c contender, names []string) float64 {
	before := measure.Heap()
	for _, name := range names {
		c.addAfter(name, time.Hour)
	}
	// client-go takes them up in a goroutine of its own.
	time.Sleep(time.Second)
	after := measure.Heap()
	c.close()
	runtime.KeepAlive(names)
	return (after - before) / float64(len(names))
}
