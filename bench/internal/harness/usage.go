package harness

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// CPUTime returns the user and system time of this process so far. It includes the garbage collector.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPUPer returns the CPU time of do in nanoseconds, divided by a number of units. A garbage collection precedes it.
func CPUPer(units int, do func()) float64 {
	runtime.GC()
	began := CPUTime()
	do()
	return float64(CPUTime()-began) / float64(units)
}

// Heap returns the bytes of live objects.
func Heap() float64 {
	stats := collected()
	return float64(stats.HeapAlloc)
}

// HeapAndStacks returns the bytes of the heap and of stacks that are in use. It includes the free space between objects.
func HeapAndStacks() float64 {
	stats := collected()
	return float64(stats.HeapInuse + stats.StackInuse)
}

// collected reads the statistics after several collections. A second collection frees objects that had a finalizer, and each
// collection halves stacks that are too large.
func collected() (stats runtime.MemStats) {
	for range 5 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}

// Allocations returns the number of heap objects that were allocated so far.
func Allocations() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.Mallocs)
}

// PeakRSS returns the peak resident set size of this process in bytes on Linux, and zero elsewhere. It does not use getrusage,
// which may report the peak of the parent process.
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
