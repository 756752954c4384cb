package cache

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Index finds the objects of a store by something else than their key. All methods may run concurrently.
type Index[T any, K comparable] struct {
	store    *Store[T]
	keys     func(T, []K) []K
	seed     maphash.Seed
	postings postings[K]

	// The rest belongs to the store's writer.
	free     []uint32
	next     uint32
	only     []uint32 // by slot the cell, plus one, of its object's only key, as far as it is known; else zero
	old, new []K      // keys of what is being written
	scratch  []K      // what the keys func is given
	closed   *IndexSnapshot[T, K]
}

// indexer is an index as the store sees it.
type indexer[T any] interface {
	prepare(slot uint32, old, object *T) // learns the keys of what goes and what comes; nil for none
	commit(epoch uint64, slot uint32)
	move(epoch uint64, to map[uint32]uint32)
	freeze() any // the postings, to read
}

// NewIndex adds an index to a store, at any time. keys appends an object's keys to a slice that it is given, and returns
// it; it may append none, or several, and must always do the same for the same object. It runs while the store is locked,
// and must not use it. See [ByNamespace], [ByLabel], [ByOwner] and [ByField].
func NewIndex[T any, K comparable](store *Store[T], keys func(object T, to []K) []K) *Index[T, K] {
	x := &Index[T, K]{store: store, keys: keys, seed: maphash.MakeSeed()}
	store.mu.Lock()
	defer store.mu.Unlock()
	x.fill(store.epoch, &store.state.objects)
	store.indexes = append(store.indexes, x)
	store.snapshot.Store(store.whole) // as the last one lacks the index
	return x
}

func (x *Index[T, K]) fill(epoch uint64, objects *slots.Vector[T]) {
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
func (x *Index[T, K]) All(key K) iter.Seq[T] { return over(func() []T { return x.List(key) }) }

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

// ByNamespace indexes objects by their namespace, for [NewIndex].
func ByNamespace[T lw.Keyed](object T, keys []string) []string {
	return append(keys, object.GetNamespace())
}

// ByLabel indexes objects by the value of a label; those without it have no key.
func ByLabel(name string) func(*lw.Object, []string) []string {
	return func(object *lw.Object, keys []string) []string {
		if value, ok := object.Label(name); ok {
			keys = append(keys, value)
		}
		return keys
	}
}

// ByOwner indexes objects by the UIDs of their owners.
func ByOwner(object *lw.Object, keys []string) []string {
	for owner := range object.OwnerReferences() {
		keys = append(keys, owner.UID)
	}
	return keys
}

// ByField indexes objects by the field at a path, see [lw.Value.Get]: by its text if it is a string, by its JSON if it is
// another scalar, and by each of its elements if it is an array. An object without the field, or with an object or null
// there, has no key.
func ByField(path string) func(*lw.Object, []string) []string {
	return func(object *lw.Object, keys []string) []string {
		return appendScalars(keys, object.Get(path))
	}
}

// Lister reads a store by namespace.
type Lister[T lw.Keyed] struct {
	store *Store[T]
	index *Index[T, string]
}

// NewLister returns a lister of a store, to which it adds an index by namespace.
func NewLister[T lw.Keyed](store *Store[T]) *Lister[T] {
	return &Lister[T]{store: store, index: NewIndex(store, ByNamespace[T])}
}

// Get returns an object by namespace, which is "" for those that live in none, and name.
func (l *Lister[T]) Get(namespace, name string) (object T, ok bool) {
	return l.store.Get(lw.Key{Namespace: namespace, Name: name})
}

// List returns the objects of a namespace, in no particular order; those of all namespaces for "". It costs in proportion
// to their number.
func (l *Lister[T]) List(namespace string) []T {
	if namespace == "" {
		return l.store.List()
	}
	return l.index.List(namespace)
}

// Close takes the lister's index from the store.
func (l *Lister[T]) Close() { l.index.Close() }

// appendScalars appends the text of a scalar, or of each scalar of an array.
func appendScalars(keys []string, value lw.Value) []string {
	switch {
	case !value.Exists(), value[0] == '{', value == "null":
		return keys
	case value[0] == '[':
		for element := range value.Elements() {
			if element[0] != '[' {
				keys = appendScalars(keys, element)
			}
		}
		return keys
	}
	return append(keys, value.String())
}
