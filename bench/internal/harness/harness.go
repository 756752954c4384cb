// Package harness provides the common parts of the benchmarks: flags, rounds, medians, tables, resource usage and
// worker processes.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

// Short is the flag -short of all benchmarks. A benchmark with this flag does only enough work to show that it runs.
var Short = flag.Bool("short", false, "do only enough work to check that the benchmark runs")

// Write is the flag -write of all benchmarks; see [Save].
var Write = flag.Bool("write", false, "save the results in bench/results, and update the tables in the documents")

// Save saves the results of a run if the flag -write is set. The working directory must be bench. Without the flag, Save
// only checks that the results contain all figures of the documents.
func Save(run string, results published.Results) error {
	if !*Write {
		return published.Check(run, results)
	}
	var err error
	flag.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"write", "rounds", "start", "apiserver", "kinds"}, f.Name) {
			err = fmt.Errorf("-%s changes the measured work, so the results are not comparable; omit it or -write", f.Name)
		}
	})
	if err != nil {
		return err
	}
	return published.Save("..", run, results)
}

// Main parses the flags and calls run. SIGINT and SIGTERM cancel the context. If run fails, Main prints the error and
// exits with code 1. In a process that [Run] or [Serve] started, Main runs the requested role instead.
func Main(name string, run func(context.Context) error, roles ...Role) {
	if Work(roles...) {
		return
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Must panics if err is not nil.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// MustGet returns value, or panics if err is not nil.
func MustGet[T any](value T, err error) T {
	Must(err)
	return value
}

// Rounds calls measure for every item in every round and prints the progress to stderr. It stops at the first error.
func Rounds[T any](rounds int, items []T, name func(T) string, measure func(T) error) error {
	for round := range rounds {
		for _, item := range items {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, rounds, name(item))
			if err := measure(item); err != nil {
				return fmt.Errorf("%s: %w", name(item), err)
			}
		}
	}
	return nil
}

// Median returns the median of values, or zero for an empty slice. The median of an even number of values is the larger
// of the two middle values.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// MedianOf returns the median of figure over all results.
func MedianOf[T any](results []T, figure func(T) float64) float64 {
	values := make([]float64, len(results))
	for i, result := range results {
		values[i] = figure(result)
	}
	return Median(values)
}

// Quantile returns the value at the given share of the sorted values, for example the median for 0.5. share must be in
// [0, 1). Quantile returns zero for an empty slice.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(float64(len(sorted))*share)]
}

// Table aligns tab-separated cells in columns. The caller must call Flush to print the table.
type Table struct{ *tabwriter.Writer }

// NewTable returns a table that prints to the writer. header is its first row.
func NewTable(to io.Writer, header string) Table {
	t := Table{tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)}
	t.Row("%s", header)
	return t
}

// Row formats a row of tab-separated cells and adds it to the table.
func (t Table) Row(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// say reports a value to the parent process as JSON on stdout.
func say(value any) { Must(json.NewEncoder(os.Stdout).Encode(value)) }

// CPUTime returns the user and system CPU time that this process has used.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPUPer runs a garbage collection and calls do. It returns the CPU time of the call in nanoseconds, divided by units.
func CPUPer(units int, do func()) float64 {
	runtime.GC()
	began := CPUTime()
	do()
	return float64(CPUTime()-began) / float64(units)
}

// Heap returns the total size of live heap objects in bytes. It runs garbage collections first.
func Heap() float64 {
	stats := collected()
	return float64(stats.HeapAlloc)
}

// HeapAndStacks returns the memory in bytes that heap and stacks occupy, including free space between objects. It runs
// garbage collections first.
func HeapAndStacks() float64 {
	stats := collected()
	return float64(stats.HeapInuse + stats.StackInuse)
}

// collected returns the memory statistics after five garbage collections. Several collections are necessary to free
// objects with finalizers and to shrink stacks, which halve at most once per collection.
func collected() (stats runtime.MemStats) {
	for range 5 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}

// Allocations returns the number of heap objects that this process has allocated.
func Allocations() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.Mallocs)
}

// PeakRSS returns the peak RSS of this process in bytes on Linux, and zero elsewhere. It does not use getrusage, which
// may report the peak of the parent process.
func PeakRSS() float64 { return memory("VmHWM:") }

// RSS returns the RSS of this process in bytes on Linux, and zero elsewhere.
func RSS() float64 { return memory("VmRSS:") }

// memory returns a field of /proc/self/status in bytes, or zero if the field is missing.
func memory(name string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) == 3 && string(fields[0]) == name {
			kB, err := strconv.ParseFloat(string(fields[1]), 64)
			Must(err)
			return kB * 1024
		}
	}
	return 0
}
