package cache

import (
	"hash/maphash"
	"iter"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
)

// Index finds the objects of a store by keys that a func computes. The store keeps its indexes up to date. An index
// that [Index.In] returns never changes. All methods may be called concurrently.
type Index[T any, K comparable] struct {
	store    *Store[T]
	position int // position in store.indexes
	keys     func(T, []K) []K
	seed     maphash.Seed
	frozen   bool             // the index belongs to a snapshot
	objects  *slots.Vector[T] // objects of the store, or of the snapshot if the index is frozen
	postings postings[K]

	// Only the writer of the store uses the remaining fields.
	free      []uint32
	next      uint32
	singleKey []uint32 // maps a slot to the cell of the object's only key, plus one; zero if there is no such cell
	old, new  []K      // keys of the object before and after the current write
	scratch   []K      // buffer for the result of the keys func
}

// indexer declares the methods of an [Index] that a store calls. It has no type parameter for the keys.
type indexer[T any] interface {
	prepare(slot uint32, old, object *T) // computes the keys of old and object, either of which may be nil
	commit(epoch uint64, slot uint32)
	rebuild(epoch uint64, to map[uint32]uint32)
	freeze(objects *slots.Vector[T]) any // returns a frozen *Index for the objects of a snapshot
}

// NewIndex adds an index to a store. From then on, the store keeps the index up to date. NewIndex may be called at any
// time. The func keys appends any number of keys of an object to a slice and returns the slice. It must always return
// the same keys for the same object. The store is locked during the call, so the func must not use the store. See
// [ByNamespace], [ByLabel], [ByOwner] and [ByField].
func NewIndex[T any, K comparable](store *Store[T], keys func(object T, to []K) []K) *Index[T, K] {
	x := &Index[T, K]{store: store, keys: keys, seed: maphash.MakeSeed(), objects: &store.state.objects}
	store.mu.Lock()
	defer store.mu.Unlock()
	x.build(store.epoch)
	x.position = len(store.indexes)
	store.indexes = append(store.indexes, x)
	store.snapshot.Store(store.beforeList) // discards the current snapshot, which lacks the index
	return x
}

func (x *Index[T, K]) build(epoch uint64) {
	x.objects.All(func(slot uint32, object T) bool {
		x.prepare(slot, nil, &object)
		x.commit(epoch, slot)
		return true
	})
}

// In returns the index at a snapshot of its store. The returned index never changes. If the snapshot is older than the
// index, In rebuilds the index from all objects of the snapshot. In panics if the snapshot belongs to another store.
func (x *Index[T, K]) In(snapshot *Snapshot[T]) *Index[T, K] {
	if snapshot.store != x.store {
		panic(errForeignSnapshot)
	}
	if x.position < len(snapshot.indexes) {
		return snapshot.indexes[x.position].(*Index[T, K])
	}
	rebuilt := x.newFrozen(&snapshot.state.objects, postings[K]{})
	rebuilt.build(0)
	return rebuilt
}

func (x *Index[T, K]) freeze(objects *slots.Vector[T]) any { return x.newFrozen(objects, x.postings) }

// newFrozen returns an immutable index of the given objects and postings.
func (x *Index[T, K]) newFrozen(objects *slots.Vector[T], postings postings[K]) *Index[T, K] {
	return &Index[T, K]{
		store: x.store, position: x.position, keys: x.keys, seed: x.seed,
		frozen: true, objects: objects, postings: postings,
	}
}

// List returns the objects with this key, in no particular order. The cost is proportional to the number of objects
// returned.
func (x *Index[T, K]) List(key K) []T {
	if !x.frozen {
		x.store.mu.RLock()
		defer x.store.mu.RUnlock()
	}
	_, p := x.find(key)
	if p == nil {
		return nil
	}
	objects := make([]T, 0, p.slots.Len())
	p.slots.All(func(slot uint32) bool {
		object, _ := x.objects.Get(slot)
		objects = append(objects, object)
		return true
	})
	return objects
}

// All iterates over the objects that had this key when the iteration began, in no particular order. The loop body may
// use the store.
func (x *Index[T, K]) All(key K) iter.Seq[T] { return iterate(func() []T { return x.List(key) }) }

// Len returns the number of objects with this key.
func (x *Index[T, K]) Len(key K) int {
	if !x.frozen {
		x.store.mu.RLock()
		defer x.store.mu.RUnlock()
	}
	if _, p := x.find(key); p != nil {
		return p.slots.Len()
	}
	return 0
}

// Keys returns the distinct keys of all objects, in no particular order.
func (x *Index[T, K]) Keys() (keys []K) {
	if !x.frozen {
		x.store.mu.RLock()
		defer x.store.mu.RUnlock()
	}
	x.postings.cells.All(func(_ uint32, p *posting[K]) bool {
		keys = append(keys, p.key)
		return true
	})
	return keys
}

func (x *Index[T, K]) hash(key K) uint32 { return uint32(maphash.Comparable(x.seed, key) >> 32) }
