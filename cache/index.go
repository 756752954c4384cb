package cache

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/seed-6d2a410a/listwatch/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Index finds the objects of a store by something else than their key. All methods may run concurrently.
type Index[T any, K comparable] struct {
	store *Store[T]
	keys  func(T, []K) []K
	seed  maphash.Seed
	postings[K]

	// The rest belongs to the store's writer.
	free     []uint32
	next     uint32
	old, new []K // keys of what is being written
	scratch  []K // what the keys func is given
	closed   *IndexSnapshot[T, K]
}

// postings lead from a key to the slots of its objects.
type postings[K comparable] struct {
	table slots.Table
	cells slots.Vector[*posting[K]]
}

type posting[K comparable] struct {
	key   K
	slots slots.Set // never empty
	epoch uint64    // that may change it
}

// indexer is an index as the store sees it.
type indexer[T any] interface {
	prepare(old, object *T) // asks for the keys of what goes and what comes; nil for none
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
		x.prepare(nil, &object)
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

// find returns the posting of a key; nil if there is none.
func (x *Index[T, K]) find(in *postings[K], key K) (cell uint32, found *posting[K]) {
	cell, ok := in.table.Find(x.hash(key), func(cell uint32) bool {
		found, _ = in.cells.Get(cell)
		return found.key == key
	})
	if !ok {
		return 0, nil
	}
	return cell, found
}

func (x *Index[T, K]) prepare(old, object *T) {
	x.old, x.new = x.old[:0], x.new[:0]
	if old != nil {
		x.old = x.appendKeys(x.old, *old)
	}
	if object != nil {
		x.new = x.appendKeys(x.new, *object)
	}
}

// appendKeys appends an object's keys, each once. They are copied: a keys func may return a slice of the object's own.
func (x *Index[T, K]) appendKeys(to []K, object T) []K {
	if x.scratch == nil {
		x.scratch = make([]K, 0, 8)
	}
	for _, key := range x.keys(object, x.scratch) {
		if !slices.Contains(to, key) {
			to = append(to, key)
		}
	}
	clear(x.scratch[:cap(x.scratch)]) // they are parts of an object's text
	return to
}

func (x *Index[T, K]) commit(epoch uint64, slot uint32) {
	if !slices.Equal(x.old, x.new) {
		x.change(epoch, slot)
	}
	clear(x.old) // they are parts of an object's text
	clear(x.new)
}

func (x *Index[T, K]) change(epoch uint64, slot uint32) {
	for _, key := range x.old {
		if !slices.Contains(x.new, key) {
			x.remove(epoch, key, slot)
		}
	}
	for _, key := range x.new {
		if !slices.Contains(x.old, key) {
			x.insert(epoch, key, slot)
		}
	}
}

func (x *Index[T, K]) insert(epoch uint64, key K, slot uint32) {
	cell, p := x.find(&x.postings, key)
	if p == nil {
		if n := len(x.free); n > 0 {
			cell, x.free = x.free[n-1], x.free[:n-1]
		} else {
			cell = x.next
			x.next++
		}
		p = &posting[K]{key: ownKey(key), epoch: epoch}
		x.table.Insert(epoch, x.hash(key), cell)
		x.cells.Set(epoch, cell, p)
	}
	x.own(epoch, cell, p).slots.Insert(epoch, slot)
}

func (x *Index[T, K]) remove(epoch uint64, key K, slot uint32) {
	cell, p := x.find(&x.postings, key)
	if p == nil || !p.slots.Has(slot) {
		return // the object's keys are not what they were: it was changed, or a key is not equal to itself
	}
	if p.slots.Len() > 1 {
		x.own(epoch, cell, p).slots.Remove(epoch, slot)
		return
	}
	x.cells.Clear(epoch, cell)
	x.table.Remove(epoch, x.hash(key), cell)
	x.free = append(x.free, cell)
}

// own returns a cell's posting for writing.
func (x *Index[T, K]) own(epoch uint64, cell uint32, p *posting[K]) *posting[K] {
	if p.epoch != epoch {
		p = &posting[K]{key: p.key, slots: p.slots, epoch: epoch}
		x.cells.Set(epoch, cell, p)
	}
	return p
}

// move makes the index anew for objects that went to other slots.
func (x *Index[T, K]) move(epoch uint64, to map[uint32]uint32) {
	old := x.postings
	x.postings, x.free, x.next = postings[K]{}, nil, 0
	old.cells.All(func(_ uint32, p *posting[K]) bool {
		return p.slots.All(func(slot uint32) bool {
			x.insert(epoch, p.key, to[slot])
			return true
		})
	})
}

func (x *Index[T, K]) freeze() any {
	frozen := x.postings
	return &frozen
}

// ownKey copies a text. It may be a part of an object's, and would keep it alive for as long as the key is there.
func ownKey[K comparable](key K) K {
	switch text := any(key).(type) {
	case string:
		return any(clone(text)).(K)
	case lw.Key:
		return any(lw.Key{Namespace: clone(text.Namespace), Name: clone(text.Name)}).(K)
	}
	return key
}

func clone(text string) string { return string([]byte(text)) }
