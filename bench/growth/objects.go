package main

import (
	"math/rand/v2"
	"runtime"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

var objects = dimension{
	name: "objects", axis: "objects", inputs: []int{1000, 10_000, 100_000, 1_000_000}, few: []int{1000, 3000},
	title: "What an operation of a store costs, by the number of its objects",
	note:  "processor time; indexes by namespace, node and phase",
	// To find an object: its name's two texts, as the benchmark holds them, and itself (4), the table's top, branch, chunk and
	// page (6), the vector's top, branch, chunk and leaf (5). To change an index: a posting, and three levels of its set, each
	// a node and its members, searched by halves (12).
	works: []work{
		{"load", plot.Nanoseconds, 25},
		{"update", plot.Nanoseconds, 20},
		{"update that changes an index", plot.Nanoseconds, 20 + 2*12},
		{"delete", plot.Nanoseconds, 15 + 3*12},
		{"get", plot.Nanoseconds, 15},
		{"index lookup, per object found", plot.Nanoseconds, 5},
		{"snapshot, and an update", plot.Nanoseconds, 20},
		{"snapshot, a deletion and an addition", plot.Nanoseconds, 2 * (15 + 3*12)},
		{"bytes of store, per object", plot.Bytes, 0},
	},
	machine: memory, columns: 3,
	run: func(t task) result {
		c := newCourse(t, stores.Objects(t.Input), stores.ByNamespace, stores.ByNode, stores.ByPhase)
		c.load()
		c.unit("update", c.least, 1, func(int) { c.write(false) })
		c.unit("update that changes an index", c.least, 1, func(int) { c.write(true) })
		c.remove()
		c.unit("get", c.least, 1, func(int) {
			if o := c.held[c.random.IntN(len(c.held))]; c.store.Get(o.Namespace, o.Name) != o {
				panic("it is another object")
			}
		})
		onNode := len(c.held) / stores.Nodes
		c.unit("index lookup, per object found", max(c.least/onNode, 10), onNode, func(i int) {
			if c.store.Find(1, stores.Node(i%stores.Nodes)) == 0 {
				panic("there is none")
			}
		})
		if s, ok := c.store.(stores.Snapshotter); ok {
			c.unit("snapshot, and an update", min(c.least, 20_000), 1, func(int) {
				s.Snapshot()
				c.write(false)
			})
			c.unit("snapshot, a deletion and an addition", min(c.least, 20_000), 1, func(int) {
				s.Snapshot()
				o := c.held[c.random.IntN(len(c.held))]
				s.Remove(o)
				s.Put(o)
			})
		}
		return c.result
	},
}

// course is what one process does with a store.
type course struct {
	result
	empty  func() stores.Contender
	store  stores.Contender
	held   []*stores.Object
	random *rand.Rand
	least  int // how often something is done that takes less than a few microseconds
}

func newCourse(t task, held []*stores.Object, keys ...stores.Key) *course {
	c := &course{
		empty: func() stores.Contender { return stores.New(t.Contender, keys...) }, held: held,
		random: rand.New(rand.NewPCG(1, 2)), least: max(len(held), 200_000), result: result{Costs: map[string]measured{}},
	}
	if t.Short {
		c.least = len(held)
	}
	return c
}

func (c *course) unit(work string, least, units int, do func(int)) {
	c.Costs[work] = perUnit(least, units, do)
}

// load fills stores, of which the last one stays.
func (c *course) load() {
	before, allocated := measure.Heap(), readCollector().allocated
	times := max(c.least/len(c.held), 1)
	began := measure.ProcessorTime()
	for range times {
		c.store = c.empty()
		for _, o := range c.held {
			c.store.Put(o)
		}
	}
	spent, now, all := measure.ProcessorTime()-began, readCollector(), float64(times*len(c.held))
	c.Bytes = measure.Heap()
	c.Costs["load"] = measured{float64(spent.Nanoseconds()) / all, (now.allocated - allocated) / all / (c.Bytes / now.objects)}
	c.Costs["bytes of store, per object"] = measured{Cost: (c.Bytes - before) / float64(len(c.held))}
}

// remove deletes every other object, and brings them back.
func (c *course) remove() {
	times, spent := max(c.least/len(c.held), 1), 0.0
	for range times {
		runtime.GC()
		began := measure.ProcessorTime()
		for i := 0; i < len(c.held); i += 2 {
			c.store.Remove(c.held[i])
		}
		spent += float64((measure.ProcessorTime() - began).Nanoseconds())
		for i := 0; i < len(c.held); i += 2 {
			c.store.Put(c.held[i])
		}
	}
	c.Costs["delete"] = measured{Cost: spent / float64(times) / float64(len(c.held)/2)}
}

// write writes an object anew, on another node if it moves.
func (c *course) write(moves bool) {
	i := c.random.IntN(len(c.held))
	c.held[i] = c.held[i].Next(c.random, moves)
	c.store.Put(c.held[i])
}
