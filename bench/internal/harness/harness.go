// Package harness provides the parts that all benchmarks share: flags, rounds, medians, results, resource usage and
// worker processes.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

// Short is the flag -short, which every benchmark has. With this flag, a benchmark does only enough work to show that it
// runs.
var Short = flag.Bool("short", false, "do only enough work to check that the benchmark runs")

// Write is the flag -write, which every benchmark has; see [Save].
var Write = flag.Bool("write", false, "save the results in bench/results, and update the tables in the documents")

// Rounds defines the flag -rounds with the default n.
func Rounds(n int) *int {
	return flag.Int("rounds", n, "number of rounds; most figures are medians of all rounds")
}

// Size returns short if the flag -short is set, and full otherwise.
func Size[T any](full, short T) T {
	if *Short {
		return short
	}
	return full
}

// Main parses the flags and calls run. SIGINT and SIGTERM cancel the context. If run fails, Main prints the error and
// exits with code 1. In a process that [Run] or [Serve] started, Main runs the requested role instead.
func Main(run func(context.Context) error, roles ...Role) {
	if Work(roles...) {
		return
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
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

// Until waits until condition returns true.
func Until(condition func() bool) {
	for !condition() {
		time.Sleep(time.Millisecond)
	}
}

// Figures contains one contender's measurements in one round, by name.
type Figures map[string]float64

// Compare measures all contenders in turn, once per round, and prints the progress to stderr. The results contain one
// value per round for each figure, so that a caller can divide values of the same round. With the flag -short, there is
// only one round. Compare stops at the first error.
func Compare(rounds int, contenders []string, measure func(contender string) (Figures, error)) (published.Results, error) {
	all := published.Results{}
	for round := range Size(rounds, 1) {
		for _, contender := range contenders {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, Size(rounds, 1), contender)
			figures, err := measure(contender)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contender, err)
			}
			for figure, value := range figures {
				all.Set(figure, contender, append(all.Get(figure, contender), value)...)
			}
		}
	}
	return all, nil
}

// Medians returns the median of each figure.
func Medians(all published.Results) published.Results {
	medians := maps.Clone(all)
	for name, values := range all {
		medians[name] = []float64{Median(values)}
	}
	return medians
}

// Median returns the median of the values, which must not be empty. The median of an even number of values is the
// larger of the two middle values.
func Median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// Print prints results as a table. run names the benchmark. A figure's name is "row | column", so Print splits it into
// two cells.
func Print(run string, results published.Results) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(results)) {
		fmt.Fprint(table, run, "\t", strings.Replace(name, " | ", "\t", 1))
		for _, value := range results[name] {
			fmt.Fprintf(table, "\t%.4g", value)
		}
		fmt.Fprintln(table)
	}
	Must(table.Flush())
}

// Save prints the results. If the flag -write is set, it then saves them in bench/results and updates the documents. If
// the flag is not set, it instead checks that the results contain every figure that the documents need. The working
// directory must be bench.
func Save(run string, results published.Results) error {
	Print(run, results)
	switch {
	case !*Write:
		return published.Check("..", run, results)
	case *Short:
		return errors.New("-short changes the measured work, so the results are not comparable; omit it or -write")
	}
	return published.Save("..", run, results)
}

// CPUTime returns the user and system CPU time that this process has used.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPUPer runs a garbage collection, so that do does not pay for earlier garbage, and then do. It returns the CPU time in
// nanoseconds that the process used during do, divided by units.
func CPUPer(units int, do func()) float64 {
	runtime.GC()
	began := CPUTime()
	do()
	return float64(CPUTime()-began) / float64(units)
}

// Memory returns the memory statistics after five garbage collections. Several collections are necessary to free
// objects with finalizers and to shrink stacks, which halve at most once per collection.
func Memory() (stats runtime.MemStats) {
	for range 5 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}

// Heap returns the total size of live heap objects in bytes. It runs the garbage collector first.
func Heap() float64 {
	stats := Memory()
	return float64(stats.HeapAlloc)
}

// PeakRSS returns this process's peak RSS in bytes on Linux, and zero elsewhere. It does not use getrusage, because
// getrusage may report the parent process's peak.
func PeakRSS() float64 { return PeakRSSOf(os.Getpid()) }

// PeakRSSOf is like [PeakRSS], but for another process. That process must still be running.
func PeakRSSOf(pid int) float64 { return memory(pid, "VmHWM:") }

// RSS returns this process's RSS in bytes on Linux, and zero elsewhere.
func RSS() float64 { return memory(os.Getpid(), "VmRSS:") }

// memory returns a field of /proc/<pid>/status in bytes, or zero if the field is missing. A line of this file looks like
// "VmRSS:  1234 kB", where a kB is 1,024 bytes.
func memory(pid int, name string) (kB float64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, value, _ := strings.Cut(string(status), name)
	_, _ = fmt.Sscan(value, &kB)
	return kB * 1024
}
