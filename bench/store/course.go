package main

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

// byNode is the number of the index by node.
const byNode = 1

// empty returns a contender's store with the indexes.
func empty(name string) stores.Contender { return stores.New(name, stores.ByNamespace, stores.ByNode) }

// course is the work that a contender does.
type course struct {
	c       stores.Contender
	results *results
	held    []*stores.Object
	random  *rand.Rand
}

func (c course) run(n int) {
	c.held, c.random = stores.Objects(n), rand.New(rand.NewPCG(1, 2))
	c.measure("load", n, 1, func(i int) { c.c.Put(c.held[i]) })
	c.measure("update", n, 1, func(int) { c.write(false) })
	c.measure("update that changes an index", n, 1, func(int) { c.write(true) })
	c.measure("delete", n/2, 1, func(i int) { c.c.Remove(c.held[i*2]) })
	c.measure("add", n/2, 1, func(i int) { c.c.Put(c.held[i*2]) })
	c.measure("get", n, 1, func(int) {
		if o := c.held[c.random.IntN(n)]; c.c.Get(o.Namespace, o.Name) != o {
			panic("it is another object")
		}
	})
	c.measure("index lookup, per object found", 200, n/stores.Nodes, func(i int) { mustBe(c.c.Find(byNode, stores.Node(i%stores.Nodes)) > 0) })
	c.measure("list all, per object", 10, n, func(int) { mustBe(c.c.All() == n) })
	if s, ok := c.c.(stores.Snapshotter); ok {
		c.snapshots(s)
	}
	c.mixed()
}

func mustBe(ok bool) {
	if !ok {
		panic("what was found is not what is there")
	}
}

func (c course) write(moves bool) {
	i := c.random.IntN(len(c.held))
	c.held[i] = c.held[i].Next(c.random, moves)
	c.c.Put(c.held[i])
}

// measure records the processor time of one thing of per, each time.
func (c course) measure(work string, times, per int, do func(i int)) {
	runtime.GC()
	began := measure.ProcessorTime()
	for i := range times {
		do(i)
	}
	c.results.add(work, float64((measure.ProcessorTime()-began).Nanoseconds())/float64(times)/float64(per))
}

// snapshots measures by the clock what is too short to measure otherwise.
func (c course) snapshots(s stores.Snapshotter) {
	const times = 1000
	var taking, comparing time.Duration
	for range times {
		diff := s.Snapshot()
		for range 10 {
			c.write(false)
		}
		began := time.Now()
		s.Snapshot()
		taking += time.Since(began)
		began = time.Now()
		mustBe(diff() > 0)
		comparing += time.Since(began)
	}
	c.results.add("snapshot, by the clock", float64(taking.Nanoseconds())/times)
	c.results.add("snapshot and diff of 10 changes, by the clock", float64(comparing.Nanoseconds())/times)
}

// mixed is 80 % updates, 10 % deletions, 10 % additions; with 60 snapshots in 10,000 writes if there are any.
func (c course) mixed() {
	var gone []int
	s, ok := c.c.(stores.Snapshotter)
	c.measure("write of a mix, with 60 snapshots in 10,000", 2*len(c.held), 1, func(i int) {
		if ok && i%(10_000/60) == 0 {
			s.Snapshot()
		}
		j := c.random.IntN(len(c.held))
		switch kind := c.random.IntN(10); {
		case kind == 0 && c.held[j].Node != "":
			c.c.Remove(c.held[j])
			gone = append(gone, j)
			c.held[j] = &stores.Object{Namespace: c.held[j].Namespace, Name: c.held[j].Name}
		case kind == 1 && len(gone) > 0:
			back := gone[len(gone)-1]
			gone = gone[:len(gone)-1]
			c.held[back] = c.held[back].Next(c.random, true)
			c.c.Put(c.held[back])
		case c.held[j].Node != "":
			c.held[j] = c.held[j].Next(c.random, false)
			c.c.Put(c.held[j])
		}
	})
}

// sizeOf returns the bytes of a store beside the objects, for each.
func sizeOf(c stores.Contender, n int) float64 {
	held := stores.Objects(n)
	before := measure.Heap()
	for _, o := range held {
		c.Put(o)
	}
	after := measure.Heap()
	runtime.KeepAlive(c)
	runtime.KeepAlive(held)
	return (after - before) / float64(n)
}
