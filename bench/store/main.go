// Command store compares the stores of listwatch and client-go. Each store has an index by namespace and an index by
// node. The command prints the CPU time of each operation in nanoseconds, including garbage collection.
package main

import (
	"context"
	"flag"
	"os"
	"slices"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/objects"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
	"github.com/seed-6d2a410a/listwatch/lw"
)

var (
	count  = flag.Int("objects", 100_000, "number of objects")
	rounds = flag.Int("rounds", 5, "number of rounds; the median is printed")
)

// contender is a store implementation and its results.
type contender struct {
	name     string
	newStore func() store
	times    times
}

func main() { harness.Main("store", compare) }

func compare(context.Context) error {
	if *harness.Short {
		*count, *rounds = 1000, 1
	}
	listwatch := &contender{name: "listwatch", newStore: newListwatch}
	clientGo := &contender{name: "client-go", newStore: newClientGo}
	name := func(c *contender) string { return c.name }
	err := harness.Rounds(*rounds, []*contender{clientGo, listwatch}, name, func(c *contender) error {
		newOperations(c.newStore(), &c.times, *count).run()
		return nil
	})
	if err != nil {
		return err
	}
	results := published.Results{}
	table := harness.NewTable(os.Stdout, "ns\tlistwatch\tclient-go\tratio")
	for _, operation := range listwatch.times.order {
		ours, theirs := harness.Median(listwatch.times.of[operation]), harness.Median(clientGo.times.of[operation])
		if clientGo.times.of[operation] == nil {
			results.Range(operation, "listwatch, ns", listwatch.times.of[operation])
			table.Row("%s\t%.0f\t\t", operation, ours)
			continue
		}
		table.Row("%s\t%.0f\t%.0f\t%.2f", operation, ours, theirs, ours/theirs)
		results.Ratios(operation, "ratio", listwatch.times.of[operation], clientGo.times.of[operation])
	}
	ours, theirs := bytesPerObject(newListwatch(), *count), bytesPerObject(newClientGo(), *count)
	table.Row("store overhead per object, bytes\t%.1f\t%.1f\t%.2f", ours, theirs, ours/theirs)
	results.Set("overhead", listwatch.name, ours)
	results.Set("overhead", clientGo.name, theirs)
	if err := table.Flush(); err != nil {
		return err
	}
	return harness.Save("store", results)
}

// times contains the CPU times of each operation in nanoseconds, one per round.
type times struct {
	order []string // names of the operations, in print order
	of    map[string][]float64
}

func (t *times) add(operation string, ns float64) {
	if t.of == nil {
		t.of = map[string][]float64{}
	}
	if !slices.Contains(t.order, operation) {
		t.order = append(t.order, operation)
	}
	t.of[operation] = append(t.of[operation], ns)
}

// store is the common interface of the compared stores. Each has an index by namespace and an index by node.
type store interface {
	put(*objects.Object) // adds or replaces an object
	remove(*objects.Object)
	get(namespace, name string) *objects.Object // nil if the object does not exist
	countOnNode(node string) int                // looks up the objects in the index and returns their number
	countAll() int                              // lists all objects and returns their number
}

// snapshotter is implemented by stores with snapshots. snapshot takes a snapshot and returns the function diff, which
// takes another snapshot and counts the objects that differ.
type snapshotter interface {
	snapshot() (diff func() int)
}

type listwatchStore struct {
	store  *cache.Store[*objects.Object]
	writer *cache.Writer[*objects.Object]
	byNode *cache.Index[*objects.Object, string]
}

func newListwatch() store {
	s, writer := cache.NewStore(nil, lw.Identity[*objects.Object]{})
	cache.NewIndex(s, func(o *objects.Object, to []string) []string { return append(to, o.Namespace) })
	byNode := cache.NewIndex(s, func(o *objects.Object, to []string) []string { return append(to, o.Node) })
	return &listwatchStore{s, writer, byNode}
}

func (s *listwatchStore) put(o *objects.Object)    { s.writer.Put(o) }
func (s *listwatchStore) remove(o *objects.Object) { s.writer.Delete(lw.KeyOf(o)) }

func (s *listwatchStore) get(namespace, name string) *objects.Object {
	o, _ := s.store.Get(lw.Key{Namespace: namespace, Name: name})
	return o
}

func (s *listwatchStore) countOnNode(node string) int { return len(s.byNode.List(node)) }
func (s *listwatchStore) countAll() int               { return len(s.store.List()) }

func (s *listwatchStore) snapshot() func() int {
	from := s.store.Snapshot()
	return func() int { return len(harness.MustGet(cache.Diff(from, s.store.Snapshot()))) }
}

type clientGoStore struct{ clientgo.Indexer }

func newClientGo() store {
	key := func(o any) (string, error) {
		return o.(*objects.Object).Namespace + "/" + o.(*objects.Object).Name, nil
	}
	return clientGoStore{clientgo.NewIndexer(key, clientgo.Indexers{
		"namespace": func(o any) ([]string, error) { return []string{o.(*objects.Object).Namespace}, nil },
		"node":      func(o any) ([]string, error) { return []string{o.(*objects.Object).Node}, nil },
	})}
}

func (s clientGoStore) put(o *objects.Object)    { harness.Must(s.Update(o)) } // Update also adds objects
func (s clientGoStore) remove(o *objects.Object) { harness.Must(s.Delete(o)) }

func (s clientGoStore) get(namespace, name string) *objects.Object {
	o, found, err := s.GetByKey(namespace + "/" + name)
	harness.Must(err)
	if !found {
		return nil
	}
	return o.(*objects.Object)
}

func (s clientGoStore) countOnNode(node string) int {
	return len(harness.MustGet(s.ByIndex("node", node)))
}

func (s clientGoStore) countAll() int { return len(s.List()) }
