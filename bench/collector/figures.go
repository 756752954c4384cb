package main

import (
	"runtime/metrics"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// figures are what the runtime has counted so far.
type figures struct {
	clock              time.Time
	processor          time.Duration
	collector, program float64 // seconds of processor time, as the runtime estimates them, up to the end of the last collection
	collections        float64
	allocated          float64 // bytes
	pauses             *metrics.Float64Histogram
}

func now() figures {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/user:cpu-seconds"},
		{Name: "/gc/cycles/automatic:gc-cycles"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	return figures{
		clock: time.Now(), processor: measure.ProcessorTime(),
		collector: samples[0].Value.Float64(), program: samples[1].Value.Float64(),
		collections: float64(samples[2].Value.Uint64()), allocated: float64(samples[3].Value.Uint64()),
		pauses: samples[4].Value.Float64Histogram(),
	}
}

// longestPause returns the upper end of the last bucket that has grown since, in seconds.
func (f figures) longestPause(since figures) (longest float64) {
	for i, count := range f.pauses.Counts {
		if count > since.pauses.Counts[i] {
			longest = f.pauses.Buckets[i+1]
		}
	}
	return longest
}
