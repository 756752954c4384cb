package main

import (
	"runtime"
	"runtime/metrics"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// perUnit returns what one of so many units costs each time that do is called, at least so many times: the processor time in
// ns. Where much is allocated it goes on to the end of a collection, so that whole ones are counted, and none by chance.
func perUnit(least, units int, do func(i int)) measured {
	runtime.GC()
	before := readCollector()
	began := measure.ProcessorTime()
	n := 0
	for ; n < least; n++ {
		do(n)
	}
	now := readCollector()
	if now.cycles > before.cycles || 20*(now.allocated-before.allocated) > before.live {
		for at := now.cycles; at == now.cycles; now = readCollector() {
			for range max(least/1000, 1) {
				do(n)
				n++
			}
		}
	}
	all := float64(n) * float64(units)
	return measured{
		Cost:   float64((measure.ProcessorTime() - began).Nanoseconds()) / all,
		Marked: (now.allocated - before.allocated) / all / (now.live / now.objects),
	}
}

// collector is what the collector has done so far.
type collector struct {
	cycles, allocated float64 // collections, and bytes
	live, objects     float64 // bytes that the last collection left, and objects that are there
}

func readCollector() collector {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/objects:objects"}}
	metrics.Read(samples)
	value := func(i int) float64 { return float64(samples[i].Value.Uint64()) }
	return collector{value(0), value(1), value(2), value(3)}
}
