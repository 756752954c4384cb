// Package harness provides the code that all benchmarks share: flags, rounds, medians, tables, resource usage and
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
)

// Short is a flag of all benchmarks. It reduces the work to the minimum that shows that a benchmark runs.
var Short = flag.Bool("short", false, "do as little work as possible, to check that the benchmark runs")

// Main parses the flags and calls run with a context that SIGINT and SIGTERM cancel. If run fails, Main prints the
// error and exits with code 1. In a worker process, Main runs the process's role instead.
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

// MustGet returns the value and panics if err is not nil.
func MustGet[T any](value T, err error) T {
	Must(err)
	return value
}

// Rounds calls measure for every item in every round and prints its progress to standard error. It stops at the first
// error.
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

// Median returns the middle value, or the larger of the two middle values. It returns zero for an empty slice.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// MedianOf returns the median of one measurement over all results.
func MedianOf[T any](results []T, figure func(T) float64) float64 {
	values := make([]float64, len(results))
	for i, result := range results {
		values[i] = figure(result)
	}
	return Median(values)
}

// Quantile returns the value below which the given share of the values lies. For example, a share of 0.5 returns the
// median. The share must be in [0, 1). Quantile returns zero for an empty slice.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(float64(len(sorted))*share)]
}

// Table aligns the columns of its rows. The cells of a row are separated by tabs. The caller must call Flush.
type Table struct{ *tabwriter.Writer }

// NewTable returns a table with the header as its first row. The table writes to the given writer.
func NewTable(to io.Writer, header string) Table {
	t := Table{tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)}
	t.Row("%s", header)
	return t
}

// Row formats a row and adds it to the table.
func (t Table) Row(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// say writes a value as JSON to stdout, which the parent process reads.
func say(value any) { Must(json.NewEncoder(os.Stdout).Encode(value)) }

// CPUTime returns the user and system CPU time of this process so far, including garbage collection.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPUPer calls do and returns its CPU time in nanoseconds, divided by units. It runs a garbage collection first.
func CPUPer(units int, do func()) float64 {
	runtime.GC()
	began := CPUTime()
	do()
	return float64(CPUTime()-began) / float64(units)
}

// Heap returns the size of all live objects in bytes.
func Heap() float64 {
	stats := collected()
	return float64(stats.HeapAlloc)
}

// HeapAndStacks returns the size of heap and stacks in use in bytes, including free space between objects.
func HeapAndStacks() float64 {
	stats := collected()
	return float64(stats.HeapInuse + stats.StackInuse)
}

// collected runs several garbage collections and returns the memory statistics. The second collection frees objects
// that had a finalizer. Each collection halves stacks that are too large.
func collected() (stats runtime.MemStats) {
	for range 5 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}

// Allocations returns the number of heap objects allocated so far.
func Allocations() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.Mallocs)
}

// PeakRSS returns the peak resident set size of this process in bytes on Linux, and zero elsewhere. It does not use getrusage,
// which may report the peak of the parent process.
func PeakRSS() float64 { return memory("VmHWM:") }

// RSS returns the resident set size of this process in bytes on Linux, and zero elsewhere.
func RSS() float64 { return memory("VmRSS:") }

// memory returns a memory size of this process in bytes. The name is a field of /proc/self/status.
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
