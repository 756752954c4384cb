package cache

import (
	"errors"
	"iter"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Snapshot is a store's content at one resource version: all objects, and all indexes by [Index.In]. It never changes. All
// methods may run concurrently, also while the store is written. Two snapshots between which nothing changed are the same
// pointer.
//
// Taking one costs next to nothing; what is written after it copies what it shares with the store, a little at a time. So
// take as many as are looked at, some tens a second say, rather than one for every event.
type Snapshot[T any] struct {
	store      *Store[T]
	state      state[T]
	indexes    []indexState[T]
	incomplete bool // an object could not be decoded
}

type indexState[T any] struct {
	index    indexer[T]
	postings any
}

// Snapshot returns the last complete state of the store. During a list this is the state before the list. So it is empty
// during the first list, unless the state was restored.
func (s *Store[T]) Snapshot() *Snapshot[T] {
	if taken := s.snapshot.Load(); taken != nil {
		return taken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beforeList != nil {
		return s.beforeList
	}
	return s.freeze()
}

// freeze returns a snapshot of the current state. Later writes copy the data that it shares.
func (s *Store[T]) freeze() *Snapshot[T] {
	if taken := s.snapshot.Load(); taken != nil {
		return taken
	}
	taken := &Snapshot[T]{store: s, state: s.state, incomplete: len(s.decodeErrors) > 0, indexes: make([]indexState[T], len(s.indexes))}
	for i, index := range s.indexes {
		taken.indexes[i] = indexState[T]{index, index.freeze()}
	}
	s.epoch++
	s.snapshot.Store(taken)
	return taken
}

// invalidate discards the current snapshot, or marks it as changed by the list.
func (s *Store[T]) invalidate() {
	switch {
	case s.beforeList != nil:
		s.changedByList = true
	case s.snapshot.Load() != nil:
		s.snapshot.Store(nil)
	}
}

// Get returns the object with a key.
func (sn *Snapshot[T]) Get(key lw.Key) (object T, ok bool) {
	_, object, ok = sn.store.find(&sn.state, sn.store.hash(key), key)
	return object, ok
}

// Len returns how many objects there are.
func (sn *Snapshot[T]) Len() int { return sn.state.length }

// List returns all objects, in no particular order.
func (sn *Snapshot[T]) List() []T { return sn.state.list() }

// All iterates over all objects, in no particular order.
func (sn *Snapshot[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		sn.state.objects.All(func(_ uint32, object T) bool { return yield(object) })
	}
}

// ResourceVersion returns the version of the collection that the snapshot shows; "" before the first list is complete.
func (sn *Snapshot[T]) ResourceVersion() string { return sn.state.version }

// IndexSnapshot is an index as it was at a snapshot.
type IndexSnapshot[T any, K comparable] struct {
	index    *Index[T, K]
	postings *postings[K]
	objects  *slots.Vector[T]
}

// In returns the index as it was at a snapshot of its store. For a snapshot that is older than the index it is made anew,
// at the cost of going through all objects.
func (x *Index[T, K]) In(snapshot *Snapshot[T]) IndexSnapshot[T, K] {
	if snapshot.store != x.store {
		panic(ErrForeignSnapshot)
	}
	view := IndexSnapshot[T, K]{index: x, objects: &snapshot.state.objects}
	for _, frozen := range snapshot.indexes {
		if frozen.index == indexer[T](x) {
			view.postings = frozen.postings.(*postings[K])
			return view
		}
	}
	again := &Index[T, K]{store: x.store, keys: x.keys, seed: x.seed}
	again.build(0, &snapshot.state.objects)
	view.postings = &again.postings
	return view
}

// List returns the objects with a key, in no particular order. It costs in proportion to their number.
func (v IndexSnapshot[T, K]) List(key K) []T {
	_, p := v.index.find(v.postings, key)
	if p == nil {
		return nil
	}
	objects := make([]T, 0, p.slots.Len())
	v.each(p, func(object T) bool {
		objects = append(objects, object)
		return true
	})
	return objects
}

// All iterates over the objects with a key, in no particular order.
func (v IndexSnapshot[T, K]) All(key K) iter.Seq[T] {
	return func(yield func(T) bool) {
		if _, p := v.index.find(v.postings, key); p != nil {
			v.each(p, yield)
		}
	}
}

func (v IndexSnapshot[T, K]) each(p *posting[K], yield func(T) bool) {
	p.slots.All(func(slot uint32) bool {
		object, _ := v.objects.Get(slot)
		return yield(object)
	})
}

// Len returns how many objects have a key.
func (v IndexSnapshot[T, K]) Len(key K) int {
	if _, p := v.index.find(v.postings, key); p != nil {
		return p.slots.Len()
	}
	return 0
}

// Keys returns all keys that objects have, in no particular order.
func (v IndexSnapshot[T, K]) Keys() (keys []K) {
	v.postings.cells.All(func(_ uint32, p *posting[K]) bool {
		keys = append(keys, p.key)
		return true
	})
	return keys
}

// ErrForeignSnapshot says that snapshots are of two stores.
var ErrForeignSnapshot = errors.New("cache: the snapshots are of two different stores, which have nothing in common to compare")

// Diff returns what changed from one snapshot of a store to another one of the same store, whichever is the older. Either
// may be nil, for the empty store. It costs in proportion to what was written in between. No deletion is marked as FinalStateUnknown.
func Diff[T any](from, to *Snapshot[T]) ([]Change[T], error) {
	switch {
	case from == nil && to == nil:
		return nil, nil
	case from == nil:
		from = &Snapshot[T]{store: to.store}
	case to == nil:
		to = &Snapshot[T]{store: from.store}
	}
	if from.store != to.store {
		return nil, ErrForeignSnapshot
	}
	var changes []Change[T]
	slots.Changed(&from.state.objects, &to.state.objects, func(_ uint32, before, after T, was, is bool) {
		changes = appendChange(changes, from, to, before, after, was, is)
	})
	return changes, nil
}

// appendChange tells what became of a slot's object. An object that moved to another slot is told where it was.
func appendChange[T any](changes []Change[T], from, to *Snapshot[T], before, after T, was, is bool) []Change[T] {
	s := from.store
	if was && is && s.key(before) == s.key(after) {
		if s.compare.identical(before, after) {
			return changes
		}
		return append(changes, Change[T]{Type: Modified, Old: before, New: after})
	}
	if was {
		now, ok := to.Get(s.key(before))
		switch {
		case !ok:
			changes = append(changes, Change[T]{Type: Deleted, Old: before})
		case !s.compare.identical(before, now):
			changes = append(changes, Change[T]{Type: Modified, Old: before, New: now})
		}
	}
	if is {
		if _, ok := from.Get(s.key(after)); !ok {
			changes = append(changes, Change[T]{Type: Added, New: after})
		}
	}
	return changes
}
