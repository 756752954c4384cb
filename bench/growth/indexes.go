package main

import (
	"strconv"

	"github.com/seed-6d2a410a/listwatch/bench/internal/plot"
	"github.com/seed-6d2a410a/listwatch/bench/internal/stores"
)

const indexed = 100_000 // objects of the store whose indexes are counted

var indexes = dimension{
	name: "indexes", axis: "indexes", inputs: []int{1, 2, 5, 10, 20}, few: []int{1, 3},
	title: "What an update costs, by the number of a store's indexes",
	note:  "processor time of one update for each index; 100,000 objects",
	works: []work{
		{"update that changes no index, per index", plot.Nanoseconds, 20},
		{"update that changes all indexes, per index", plot.Nanoseconds, 20 + 2*12},
	},
	machine: memory, columns: 2,
	run: func(t task) result {
		keys, n := make([]stores.Key, t.Input), indexed
		for i := range keys {
			keys[i] = stores.ByLabel(i)
		}
		if t.Short {
			n = 1000
		}
		c := newCourse(t, stores.Labelled(n, t.Input), keys...)
		c.load()
		c.unit("update that changes no index, per index", c.least, t.Input, func(int) { c.write(false) })
		sets := stores.LabelSets(t.Input)
		c.unit("update that changes all indexes, per index", c.least, t.Input, func(i int) {
			at := c.random.IntN(n)
			next := *c.held[at]
			next.Version, next.Labels = strconv.Itoa(i), sets[c.random.IntN(len(sets))]
			c.held[at] = &next
			c.store.Put(&next)
		})
		return c.result
	},
}
