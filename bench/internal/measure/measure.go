// Package measure holds what all benchmarks measure with: processor time, memory, medians of rounds, processes of their own.
package measure

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ProcessorTime is that of this process so far, the collector's included.
func ProcessorTime() time.Duration {
	var usage syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// MachineTime is the processor time of all that runs on this machine, as Linux tells it; zero elsewhere.
func MachineTime() (all time.Duration) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	const idle, wait, guests = 4, 5, 9 // of the fields; guests are counted as users already
	for i, field := range bytes.Fields(line)[:guests] {
		if i == 0 || i == idle || i == wait {
			continue
		}
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		Must(err)
		all += time.Duration(ticks) * 10 * time.Millisecond // USER_HZ, the same on all platforms that Go knows
	}
	return all
}

// Heap returns the bytes of objects that are in use.
func Heap() float64 { return float64(collected().HeapAlloc) }

// HeapAndStacks returns the bytes of both as they are taken from the system, with what is lost between objects.
func HeapAndStacks() float64 {
	stats := collected()
	return float64(stats.HeapInuse + stats.StackInuse)
}

// collected reads the figures after some collections: one frees what a finalizer kept, and each halves stacks that are far too
// large.
func collected() (stats runtime.MemStats) {
	for range 5 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}

// PeakRSS returns the most bytes of memory that this process has had, as Linux tells it; zero elsewhere. What getrusage tells
// may be the parent's.
func PeakRSS() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kB, err := strconv.ParseFloat(string(fields[1]), 64)
			Must(err)
			return kB * 1024
		}
	}
	return 0
}

// Median returns the middle one of the values, of two the larger; zero if there are none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Quantile returns the value below which a share of them lies, in [0, 1); zero if there are none.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(float64(len(sorted))*share)]
}

// Must panics with the error, if there is one: a benchmark that cannot do its work has no result.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Asked says whether what was asked for holds, as "at least 40: yes".
func Asked(what string, holds bool) string {
	if holds {
		return what + ": yes"
	}
	return what + ": no"
}

// Allocations is how many objects were allocated so far.
func Allocations() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.Mallocs)
}
