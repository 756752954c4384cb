package main

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// object is what is stored: a key, and what the indexes look at.
type object struct {
	namespace, name, node, version string
}

func (o *object) GetNamespace() string       { return o.namespace }
func (o *object) GetName() string            { return o.name }
func (o *object) GetResourceVersion() string { return o.version }

const nodes = 100

func newObjects(n int) []*object {
	all := make([]*object, n)
	for i := range all {
		all[i] = &object{
			namespace: "namespace-" + strconv.Itoa(i%1000), name: "some-workload-5d8f9c7b6d-" + strconv.Itoa(i),
			node: node(i % nodes), version: strconv.Itoa(i),
		}
	}
	return all
}

func node(i int) string { return "node-" + strconv.Itoa(i) }

// next is the object's next version, on another node if it moves.
func (o *object) next(random *rand.Rand, moves bool) *object {
	next := *o
	next.version = strconv.Itoa(random.Int())
	if moves {
		next.node = node(random.IntN(nodes))
	}
	return &next
}

// contender is a store with two indexes.
type contender interface {
	add(o *object)
	update(o *object)
	remove(o *object)
	get(namespace, name string) *object
	onNode(node string) int // how many objects are found
	all() int
}

// snapshotter is one that has snapshots. diff returns how many objects differ between two of them.
type snapshotter interface {
	contender
	snapshot() (diff func() int)
}

// course is the work that a contender does.
type course struct {
	c       contender
	results *results
	held    []*object
	random  *rand.Rand
}

func (c course) run(n int) {
	c.held, c.random = newObjects(n), rand.New(rand.NewPCG(1, 2))
	c.measure("load", n, 1, func(i int) { c.c.add(c.held[i]) })
	c.measure("update", n, 1, func(int) { c.write(false) })
	c.measure("update that changes an index", n, 1, func(int) { c.write(true) })
	c.measure("delete", n/2, 1, func(i int) { c.c.remove(c.held[i*2]) })
	c.measure("add", n/2, 1, func(i int) { c.c.add(c.held[i*2]) })
	c.measure("get", n, 1, func(int) {
		if o := c.held[c.random.IntN(n)]; c.c.get(o.namespace, o.name) != o {
			panic("it is another object")
		}
	})
	c.measure("index lookup, per object found", 200, n/nodes, func(i int) { mustBe(c.c.onNode(node(i%nodes)) > 0) })
	c.measure("list all, per object", 10, n, func(int) { mustBe(c.c.all() == n) })
	if s, ok := c.c.(snapshotter); ok {
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
	c.held[i] = c.held[i].next(c.random, moves)
	c.c.update(c.held[i])
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
func (c course) snapshots(s snapshotter) {
	const times = 1000
	var taking, comparing time.Duration
	for range times {
		diff := s.snapshot()
		for range 10 {
			c.write(false)
		}
		began := time.Now()
		s.snapshot()
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
	s, ok := c.c.(snapshotter)
	c.measure("write of a mix, with 60 snapshots in 10,000", 2*len(c.held), 1, func(i int) {
		if ok && i%(10_000/60) == 0 {
			s.snapshot()
		}
		j := c.random.IntN(len(c.held))
		switch kind := c.random.IntN(10); {
		case kind == 0 && c.held[j].node != "":
			c.c.remove(c.held[j])
			gone = append(gone, j)
			c.held[j] = &object{namespace: c.held[j].namespace, name: c.held[j].name}
		case kind == 1 && len(gone) > 0:
			back := gone[len(gone)-1]
			gone = gone[:len(gone)-1]
			c.held[back] = c.held[back].next(c.random, true)
			c.c.add(c.held[back])
		case c.held[j].node != "":
			c.held[j] = c.held[j].next(c.random, false)
			c.c.update(c.held[j])
		}
	})
}

// sizeOf returns the bytes of a store beside the objects, for each.
func sizeOf(c contender, n int) float64 {
	held := newObjects(n)
	before := measure.Heap()
	for _, o := range held {
		c.add(o)
	}
	after := measure.Heap()
	runtime.KeepAlive(c)
	runtime.KeepAlive(held)
	return (after - before) / float64(n)
}
