package cache

import (
	"hash/maphash"
	"iter"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
)

// Index finds the objects of a store by keys that a func computes. All methods may be called concurrently.
type Index[T any, K comparable] struct {
	store    *Store[T]
	keys     func(T, []K) []K
	seed     maphash.Seed
	postings postings[K]

	// The remaining fields belong to the writer of the store.
	free      []uint32
	next      uint32
	singleKey []uint32 // for each slot, one plus the cell of the object's only key, or zero if unknown
	old, new  []K      // keys of the object before and after the current write
	scratch   []K      // buffer for the keys func
}

// indexer is the interface between a store and its indexes.
type indexer[T any] interface {
	prepare(slot uint32, old, object *T) // computes the keys of both objects, which may be nil
	commit(epoch uint64, slot uint32)
	rebuild(epoch uint64, to map[uint32]uint32)
	freeze() any // returns a read-only copy of the postings
}

// NewIndex adds an index to a store, which keeps it up to date from then on. It may be called at any time. keys appends the keys of an object to a slice and
// returns it. It may append none or several, and must always return the same keys for the same object. The store is
// locked during the call, so keys must not use it. See [ByNamespace], [ByLabel], [ByOwner] and [ByField].
func NewIndex[T any, K comparable](store *Store[T], keys func(object T, to []K) []K) *Index[T, K] {
	x := &Index[T, K]{store: store, keys: keys, seed: maphash.MakeSeed()}
	store.mu.Lock()
	defer store.mu.Unlock()
	x.build(store.epoch, &store.state.objects)
	store.indexes = append(store.indexes, x)
	store.snapshot.Store(store.beforeList) // the current snapshot lacks the index
	return x
}

func (x *Index[T, K]) build(epoch uint64, objects *slots.Vector[T]) {
	objects.All(func(slot uint32, object T) bool {
		x.prepare(slot, nil, &object)
		x.commit(epoch, slot)
		return true
	})
}

// List returns the objects with a key, in no particular order. Its cost is proportional to their number.
func (x *Index[T, K]) List(key K) []T {
	x.store.mu.RLock()
	defer x.store.mu.RUnlock()
	return x.view().List(key)
}

// All iterates over the objects that had a key when the iteration began, in no particular order. The loop body may use
// the store.
func (x *Index[T, K]) All(key K) iter.Seq[T] { return iterate(func() []T { return x.List(key) }) }

// Len returns the number of objects with a key.
func (x *Index[T, K]) Len(key K) int {
	x.store.mu.RLock()
	defer x.store.mu.RUnlock()
	return x.view().Len(key)
}

// Keys returns all keys of all objects, in no particular order.
func (x *Index[T, K]) Keys() []K {
	x.store.mu.RLock()
	defer x.store.mu.RUnlock()
	return x.view().Keys()
}

func (x *Index[T, K]) view() IndexSnapshot[T, K] {
	return IndexSnapshot[T, K]{index: x, postings: &x.postings, objects: &x.store.state.objects}
}

func (x *Index[T, K]) hash(key K) uint32 { return uint32(maphash.Comparable(x.seed, key) >> 32) }

func (x *Index[T, K]) freeze() any {
	frozen := x.postings
	return &frozen
}
