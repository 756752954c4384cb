package main

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/objects"
)

// operations measures the operations of one store. held contains the latest version of each object.
type operations struct {
	store  store
	times  *times
	held   []*objects.Object
	random *rand.Rand
}

func newOperations(s store, t *times, n int) *operations {
	return &operations{s, t, objects.New(n, 0, 0), rand.New(rand.NewPCG(1, 2))}
}

func (o *operations) run() {
	n := len(o.held)
	o.measure("load", n, 1, func(i int) { o.store.put(o.held[i]) })
	o.measure("update", n, 1, func(int) { o.write(false) })
	o.measure("update that changes an index", n, 1, func(int) { o.write(true) })
	o.measure("delete", n/2, 1, func(i int) { o.store.remove(o.held[i*2]) })
	o.measure("add", n/2, 1, func(i int) { o.store.put(o.held[i*2]) })
	o.measure("get", n, 1, func(int) {
		one := o.held[o.random.IntN(n)]
		check(o.store.get(one.Namespace, one.Name) == one)
	})
	o.measure("index lookup, per object found", 200, n/objects.Nodes, func(i int) { check(o.store.countOnNode(objects.Node(i%objects.Nodes)) > 0) })
	o.measure("list all, per object", 10, n, func(int) { check(o.store.countAll() == n) })
	if s, ok := o.store.(snapshotter); ok {
		o.measureSnapshots(s)
	}
	o.measureMix()
}

func check(ok bool) {
	if !ok {
		panic("a store returned a wrong result")
	}
}

// next returns a copy of object i with a new resourceVersion, and with a random node if moves is true.
func (o *operations) next(i int, moves bool) *objects.Object {
	next := *o.held[i]
	next.Version = strconv.Itoa(o.random.Int())
	if moves {
		next.Node = objects.Node(o.random.IntN(objects.Nodes))
	}
	return &next
}

func (o *operations) write(moves bool) {
	i := o.random.IntN(len(o.held))
	o.held[i] = o.next(i, moves)
	o.store.put(o.held[i])
}

// measure calls do(i) for each i below times and records the CPU time per unit. Each call processes the given number of
// units.
func (o *operations) measure(operation string, times, units int, do func(i int)) {
	o.times.add(operation, harness.CPUPer(times*units, func() {
		for i := range times {
			do(i)
		}
	}))
}

// measureSnapshots measures the wall time, because CPU times are too coarse for such short operations.
func (o *operations) measureSnapshots(s snapshotter) {
	const times = 1000
	var taking, comparing time.Duration
	for range times {
		diff := s.snapshot()
		for range 10 {
			o.write(false)
		}
		began := time.Now()
		s.snapshot()
		taking += time.Since(began)
		began = time.Now()
		check(diff() > 0)
		comparing += time.Since(began)
	}
	o.times.add("snapshot, wall time", float64(taking.Nanoseconds())/times)
	o.times.add("snapshot and diff of 10 changes, wall time", float64(comparing.Nanoseconds())/times)
}

// measureMix measures a random mix of about 80 % updates, 10 % deletions and 10 % additions. A snapshotter also takes
// 60 snapshots per 10,000 writes.
func (o *operations) measureMix() {
	var removed []int
	s, hasSnapshots := o.store.(snapshotter)
	o.measure("mixed write, with 60 snapshots per 10,000 writes", 2*len(o.held), 1, func(i int) {
		if hasSnapshots && i%(10_000/60) == 0 {
			s.snapshot()
		}
		j := o.random.IntN(len(o.held))
		switch kind := o.random.IntN(10); {
		case kind == 0 && o.held[j].Node != "":
			o.store.remove(o.held[j])
			removed = append(removed, j)
			o.held[j] = &objects.Object{Namespace: o.held[j].Namespace, Name: o.held[j].Name}
		case kind == 1 && len(removed) > 0:
			back := removed[len(removed)-1]
			removed = removed[:len(removed)-1]
			o.held[back] = o.next(back, true)
			o.store.put(o.held[back])
		case o.held[j].Node != "":
			o.held[j] = o.next(j, false)
			o.store.put(o.held[j])
		}
	})
}

// bytesPerObject adds n objects to the store and returns the bytes of memory that the store uses per object. The
// objects themselves do not count.
func bytesPerObject(s store, n int) float64 {
	held := objects.New(n, 0, 0)
	before := harness.Heap()
	for _, o := range held {
		s.put(o)
	}
	after := harness.Heap()
	runtime.KeepAlive(s)
	runtime.KeepAlive(held)
	return (after - before) / float64(n)
}
