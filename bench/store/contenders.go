package main

import (
	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	clientgo "k8s.io/client-go/tools/cache"
)

type ours struct {
	store  *cache.Store[*object]
	writer *cache.Writer[*object]
	byNode *cache.Index[*object, string]
}

func newOurs() *ours {
	store, writer := cache.NewStore[*object](nil)
	cache.NewIndex(store, cache.ByNamespace[*object])
	return &ours{store, writer, cache.NewIndex(store, func(o *object, to []string) []string { return append(to, o.node) })}
}

func (s *ours) add(o *object)    { s.writer.Put(o) }
func (s *ours) update(o *object) { s.writer.Put(o) }
func (s *ours) remove(o *object) { s.writer.Delete(lw.KeyOf(o)) }

func (s *ours) get(namespace, name string) *object {
	o, _ := s.store.Get(lw.Key{Namespace: namespace, Name: name})
	return o
}

func (s *ours) onNode(node string) int { return len(s.byNode.List(node)) }
func (s *ours) all() int               { return len(s.store.List()) }

func (s *ours) snapshot() func() int {
	from := s.store.Snapshot()
	return func() int {
		deltas, err := cache.Diff(from, s.store.Snapshot())
		if err != nil {
			panic(err)
		}
		return len(deltas)
	}
}

type theirs struct{ clientgo.Indexer }

func newClientGo() *theirs {
	return &theirs{clientgo.NewIndexer(func(o any) (string, error) {
		return o.(*object).namespace + "/" + o.(*object).name, nil
	}, clientgo.Indexers{
		"namespace": func(o any) ([]string, error) { return []string{o.(*object).namespace}, nil },
		"node":      func(o any) ([]string, error) { return []string{o.(*object).node}, nil },
	})}
}

func (s *theirs) add(o *object)    { measure.Must(s.Add(o)) }
func (s *theirs) update(o *object) { measure.Must(s.Update(o)) }
func (s *theirs) remove(o *object) { measure.Must(s.Delete(o)) }

func (s *theirs) get(namespace, name string) *object {
	o, _, err := s.GetByKey(namespace + "/" + name)
	measure.Must(err)
	return o.(*object)
}

func (s *theirs) onNode(node string) int {
	found, err := s.ByIndex("node", node)
	measure.Must(err)
	return len(found)
}

func (s *theirs) all() int { return len(s.List()) }
