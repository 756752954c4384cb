//go:build unix

package lw

import (
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// cpu is the processor time that this process has used, the garbage collector's included.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkEventOverFloor takes turns between the two, so that whatever else the machine does weighs on both alike, and
// reports how many times the floor's processor time an event costs.
func BenchmarkEventOverFloor(b *testing.B) {
	text := sample.Events(7, 500)
	f, w := newFloor(text), newWhole(text)
	const turn = 5000
	var least, all time.Duration
	for b.Loop() {
		began := cpu(b)
		for range turn {
			keptBytes = f.next()
		}
		middle := cpu(b)
		for range turn {
			keptObject = w.next()
		}
		least += middle - began
		all += cpu(b) - middle
	}
	b.ReportMetric(float64(all)/float64(least), "x-floor")
	b.ReportMetric(float64(all.Nanoseconds())/float64(b.N*turn), "cpu-ns/event")
	b.ReportMetric(0, "ns/op") // of a turn of both: of no interest
}
