//go:build unix

package lw

import (
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// cpu returns the CPU time of this process, including garbage collection.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkEventOverFloor reports the ratio of the CPU times of the decoders `whole` and `floor`. It alternates between
// them, so that other load affects both equally.
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
	b.ReportMetric(0, "ns/op") // omits ns/op, because each iteration runs both decoders
}
