package cache

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
)

// Index finds the objects of a store by something else than their key. All methods may run concurrently.
type Index[T any, K comparable] struct {
	store    *Store[T]
	keys     func(T, []K) []K
	seed     maphash.Seed
	postings postings[K]

	// The rest belongs to the store's writer.
	free      []uint32
	next      uint32
	singleKey []uint32 // by slot: the cell plus one of the only key of the object, or zero if unknown
	old, new  []K      // keys of what is being written
	scratch   []K      // what the keys func is given
	closed    *IndexSnapshot[T, K]
}

// indexer is an index as the store sees it.
type indexer[T any] interface {
	prepare(slot uint32, old, object *T) // learns the keys of what goes and what comes; nil for none
	commit(epoch uint64, slot uint32)
	rebuild(epoch uint64, to map[uint32]uint32)
	freeze() any // the postings, to read
}

// NewIndex adds an index to a store, at any time. keys appends an object's keys to a slice that it is given, and returns
// it; it may append none, or several, and must always do the same for the same object. It runs while the store is locked,
// and must not use it. See [ByNamespace], [ByLabel], [ByOwner] and [ByField].
func NewIndex[T any, K comparable](store *Store[T], keys func(object T, to []K) []K) *Index[T, K] {
	x := &Index[T, K]{store: store, keys: keys, seed: maphash.MakeSeed()}
	store.mu.Lock()
	defer store.mu.Unlock()
	x.build(store.epoch, &store.state.objects)
	store.indexes = append(store.indexes, x)
	store.snapshot.Store(store.beforeList) // as the last one lacks the index
	return x
}

func (x *Index[T, K]) build(epoch uint64, objects *slots.Vector[T]) {
	objects.All(func(slot uint32, object T) bool {
		x.prepare(slot, nil, &object)
		x.commit(epoch, slot)
		return true
	})
}

// Close takes the index from its store. From then on it stands still, as it was, and keeps alive what it held.
func (x *Index[T, K]) Close() {
	s := x.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.closed != nil {
		return
	}
	objects, postings := s.state.objects, x.postings
	x.closed = &IndexSnapshot[T, K]{index: x, postings: &postings, objects: &objects}
	s.epoch++ // what is written from now on is written to copies
	s.indexes = slices.DeleteFunc(slices.Clone(s.indexes), func(other indexer[T]) bool { return other == indexer[T](x) })
}

// List returns the objects with a key, in no particular order. It costs in proportion to their number.
func (x *Index[T, K]) List(key K) []T {
	x.store.mu.RLock()
	defer x.store.mu.RUnlock()
	return x.view().List(key)
}

// All iterates over the objects that had a key when the iteration began, in no particular order. The store may be used
// within the loop.
func (x *Index[T, K]) All(key K) iter.Seq[T] { return iterate(func() []T { return x.List(key) }) }

// Len returns how many objects have a key.
func (x *Index[T, K]) Len(key K) int {
	x.store.mu.RLock()
	defer x.store.mu.RUnlock()
	return x.view().Len(key)
}

// Keys returns all keys that objects have, in no particular order.
func (x *Index[T, K]) Keys() []K {
	x.store.mu.RLock()
	defer x.store.mu.RUnlock()
	return x.view().Keys()
}

func (x *Index[T, K]) view() IndexSnapshot[T, K] {
	if x.closed != nil {
		return *x.closed
	}
	return IndexSnapshot[T, K]{index: x, postings: &x.postings, objects: &x.store.state.objects}
}

func (x *Index[T, K]) hash(key K) uint32 { return uint32(maphash.Comparable(x.seed, key) >> 32) }

func (x *Index[T, K]) freeze() any {
	frozen := x.postings
	return &frozen
}
