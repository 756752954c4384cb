// Package stores has the stores that bench/store and bench/growth compare, with the same objects and the same indexes.
package stores

import (
	"strconv"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Contender is a store with some indexes.
type Contender interface {
	Put(o *Object) // adds or replaces
	Remove(o *Object)
	Get(namespace, name string) *Object // nil if there is none
	Find(index int, key string) int     // how many objects an index finds
	All() int                           // how many objects a list of all has
}

// Snapshotter is one that has snapshots. Diff returns how many objects differ between two of them.
type Snapshotter interface {
	Contender
	Snapshot() (diff func() int)
}

// Names are those of the contenders.
var Names = []string{"listwatch", "client-go"}

// New returns an empty store of a contender, with an index for each key.
func New(name string, keys ...Key) Contender {
	if name == Names[0] {
		return newOurs(keys)
	}
	return newClientGo(keys)
}

type ours struct {
	store   *cache.Store[*Object]
	writer  *cache.Writer[*Object]
	indexes []*cache.Index[*Object, string]
}

func newOurs(keys []Key) *ours {
	store, writer := cache.NewStore[*Object](nil)
	s := &ours{store: store, writer: writer}
	for _, key := range keys {
		s.indexes = append(s.indexes, cache.NewIndex(store, func(o *Object, to []string) []string { return append(to, key(o)) }))
	}
	return s
}

func (s *ours) Put(o *Object)    { s.writer.Put(o) }
func (s *ours) Remove(o *Object) { s.writer.Delete(lw.KeyOf(o)) }

func (s *ours) Get(namespace, name string) *Object {
	o, _ := s.store.Get(lw.Key{Namespace: namespace, Name: name})
	return o
}

func (s *ours) Find(index int, key string) int { return len(s.indexes[index].List(key)) }
func (s *ours) All() int                       { return len(s.store.List()) }

func (s *ours) Snapshot() func() int {
	from := s.store.Snapshot()
	return func() int {
		deltas, err := cache.Diff(from, s.store.Snapshot())
		measure.Must(err)
		return len(deltas)
	}
}

type theirs struct{ clientgo.Indexer }

func newClientGo(keys []Key) *theirs {
	indexers := clientgo.Indexers{}
	for i, key := range keys {
		indexers[strconv.Itoa(i)] = func(o any) ([]string, error) { return []string{key(o.(*Object))}, nil }
	}
	return &theirs{clientgo.NewIndexer(func(o any) (string, error) {
		return o.(*Object).Namespace + "/" + o.(*Object).Name, nil
	}, indexers)}
}

// Put updates, which is the same as to add.
func (s *theirs) Put(o *Object)    { measure.Must(s.Update(o)) }
func (s *theirs) Remove(o *Object) { measure.Must(s.Delete(o)) }

func (s *theirs) Get(namespace, name string) *Object {
	o, found, err := s.GetByKey(namespace + "/" + name)
	measure.Must(err)
	if !found {
		return nil
	}
	return o.(*Object)
}

func (s *theirs) Find(index int, key string) int {
	found, err := s.ByIndex(strconv.Itoa(index), key)
	measure.Must(err)
	return len(found)
}

func (s *theirs) All() int { return len(s.List()) }
