// Command store compares listwatch's store with client-go's. Each store has an index by namespace and an index by
// node. The command measures the CPU time per operation, including garbage collection, and the memory per object.
package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var rounds = harness.Rounds(5)

const nodes = 100 // number of different nodes

// Names of the measured operations.
const (
	load         = "load"
	update       = "update"
	updateIndex  = "update that changes an index"
	remove       = "delete"
	add          = "add"
	get          = "get"
	lookUp       = "index lookup, per object found"
	listAll      = "list all, per object"
	mix          = "mixed write, with 60 snapshots per 10,000 writes"
	takeSnapshot = "snapshot, wall time"
)

// newStores contains the function that creates each contender's empty store.
var newStores = map[string]func() store{"listwatch": newListwatch, "client-go": newClientGo}

func main() { harness.Main(compare) }

func compare(context.Context) error {
	count := harness.Size(100_000, 1000)
	found, err := harness.Compare(*rounds, []string{"client-go", "listwatch"}, func(name string) (harness.Figures, error) {
		o := &operations{newStores[name](), harness.Figures{}, newObjects(count), rand.New(rand.NewPCG(1, 2))}
		return o.run(), nil
	})
	if err != nil {
		return err
	}
	results := published.Results{}
	for _, operation := range []string{load, update, updateIndex, remove, add, get, lookUp, listAll, mix} {
		results.Ratios(operation, "ratio", found.Get(operation, "listwatch"), found.Get(operation, "client-go"))
	}
	results.Range(takeSnapshot, "listwatch, ns", found.Get(takeSnapshot, "listwatch"))
	for name, newStore := range newStores {
		results.Set("overhead", name, bytesPerObject(newStore(), count))
	}
	return harness.Save("store", results)
}

// operations measures one store's operations. held contains the latest version of each object. During the mixed writes,
// an object without a node is not in the store.
type operations struct {
	store  store
	times  harness.Figures
	held   []*object
	random *rand.Rand
}

func (o *operations) run() harness.Figures {
	n := len(o.held)
	o.measure(load, n, 1, func(i int) { o.store.put(o.held[i]) })
	o.measure(update, n, 1, func(int) { o.write(false) })
	o.measure(updateIndex, n, 1, func(int) { o.write(true) })
	o.measure(remove, n/2, 1, func(i int) { o.store.remove(o.held[i*2]) }) // every second object
	o.measure(add, n/2, 1, func(i int) { o.store.put(o.held[i*2]) })
	o.measure(get, n, 1, func(int) {
		one := o.held[o.random.IntN(n)]
		check(o.store.get(one.Namespace, one.Name) == one)
	})
	// Each node is looked up twice, so a lookup finds n/nodes objects on average.
	o.measure(lookUp, 200, n/nodes, func(i int) { check(o.store.countOnNode(node(i%nodes)) > 0) })
	o.measure(listAll, 10, n, func(int) { check(o.store.countAll() == n) })
	if o.store.snapshot != nil {
		o.measureSnapshots()
	}
	o.measureMix()
	return o.times
}

func check(ok bool) {
	if !ok {
		panic("a store returned a wrong result")
	}
}

// next returns a copy of object i with a new resourceVersion, and with a random node if moves is true.
func (o *operations) next(i int, moves bool) *object {
	next := *o.held[i]
	next.Version = strconv.Itoa(o.random.Int())
	if moves {
		next.Node = node(o.random.IntN(nodes))
	}
	return &next
}

// write puts a new version of a random object into the store.
func (o *operations) write(moves bool) {
	i := o.random.IntN(len(o.held))
	o.held[i] = o.next(i, moves)
	o.store.put(o.held[i])
}

// measure calls do with each i from 0 to times-1 and records the CPU time per unit in nanoseconds. Each call must
// process the given number of units.
func (o *operations) measure(operation string, times, units int, do func(i int)) {
	o.times[operation] = harness.CPUPer(times*units, func() {
		for i := range times {
			do(i)
		}
	})
}

// measureSnapshots measures wall time, because CPU time is too coarse for such short operations.
func (o *operations) measureSnapshots() {
	const times = 1000
	var taking time.Duration
	for range times {
		for range 10 { // without a change, the store would return the previous snapshot
			o.write(false)
		}
		began := time.Now()
		o.store.snapshot()
		taking += time.Since(began)
	}
	o.times[takeSnapshot] = float64(taking.Nanoseconds()) / times
}

// measureMix measures a random mix of about 80 % updates, 10 % deletions and 10 % additions. If the store supports
// snapshots, it also takes 60 snapshots per 10,000 writes, because a snapshot makes the next writes more expensive.
// client-go's store has no snapshots, so its figure contains only the writes.
func (o *operations) measureMix() {
	var removed []int
	o.measure(mix, 2*len(o.held), 1, func(i int) {
		if i%(10_000/60) == 0 && o.store.snapshot != nil {
			o.store.snapshot()
		}
		j := o.random.IntN(len(o.held))
		switch kind := o.random.IntN(10); {
		case kind == 0 && o.held[j].Node != "":
			o.store.remove(o.held[j])
			removed = append(removed, j)
			o.held[j] = &object{Namespace: o.held[j].Namespace, Name: o.held[j].Name}
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

// bytesPerObject adds n objects to the store and returns how many bytes of memory the store uses per object. The
// objects themselves do not count.
func bytesPerObject(s store, n int) float64 {
	held := newObjects(n)
	before := harness.Heap()
	for _, o := range held {
		s.put(o)
	}
	grown := harness.Heap() - before
	check(s.countAll() == n) // keeps the store alive
	runtime.KeepAlive(held)
	return grown / float64(n)
}
