package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// each does something with all of a list, a few at a time, and tells how far it is; it stops at the first error.
func each[T any](all []T, workers int, told io.Writer, what string, do func(T) error) error {
	var (
		began      = time.Now()
		lock       sync.Mutex
		next, done int
		failed     error
		working    sync.WaitGroup
	)
	work := func() {
		lock.Lock()
		defer lock.Unlock()
		for failed == nil && next < len(all) {
			one := all[next]
			next++
			lock.Unlock()
			err := do(one)
			lock.Lock()
			done++
			if err != nil && failed == nil {
				failed = err
			}
			if done%25 == 0 || done == len(all) {
				fmt.Fprintf(told, "%d of %d %s, %v\n", done, len(all), what, time.Since(began).Round(time.Second))
			}
		}
	}
	for range workers {
		working.Go(work)
	}
	working.Wait()
	return failed
}

// report writes a table, and the mutants that nothing has noticed.
func report(out io.Writer, mutants []*mutant, constant int) {
	var counts [kinds + 1][outcomes]int // the last row is of all kinds
	for _, mutant := range mutants {
		counts[mutant.kind][mutant.came]++
		counts[kinds][mutant.came]++
	}
	fmt.Fprintf(out, "\n| | mutants | killed | timed out | lived | not covered |\n| --- | --- | --- | --- | --- | --- |\n")
	for kind, row := range counts {
		name := "all"
		if kind < int(kinds) {
			name = kindNames[kind]
		}
		sum := row[killed] + row[timedOut] + row[lived] + row[notCovered]
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d |\n", name, sum, row[killed], row[timedOut], row[lived], row[notCovered])
	}
	fmt.Fprintf(out, "\nNot tried: %d within constants that must stay constants, of all files.\n", constant)
	for _, came := range []outcome{lived, notCovered} {
		if counts[kinds][came] > 0 {
			fmt.Fprintf(out, "\n%s:\n", came)
		}
		for _, mutant := range mutants {
			if mutant.came == came {
				fmt.Fprintln(out, mutant)
			}
		}
	}
}
