package cache

import (
	"iter"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Snapshot is the immutable state of a store at one resourceVersion: all objects, and all indexes through [Index.In].
// All methods may be called concurrently, even while the store changes. If nothing changed between two calls,
// [Store.Snapshot] returns the same pointer.
//
// A snapshot is cheap, but the first write after it copies some shared data. Take snapshots as often as you read them,
// for example 10 times per second, instead of after every event.
type Snapshot[T any] struct {
	store      *Store[T]
	state      state[T]
	indexes    []any // a frozen *Index for each index of the store
	incomplete bool  // some objects are missing or outdated, because they could not be decoded
	distrusted bool  // the store must relist, see Store.distrust and Store.partial
}

// Snapshot returns the last complete state of the store. During a list, this is the state before the list, so during
// the first list, the snapshot is empty or contains the restored state.
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

// freeze returns a snapshot of the current state. Later writes copy the data that the snapshot shares with the store.
// The caller must hold the store's lock.
func (s *Store[T]) freeze() *Snapshot[T] {
	if taken := s.snapshot.Load(); taken != nil {
		return taken
	}
	taken := &Snapshot[T]{
		store: s, state: s.state, incomplete: len(s.decodeErrors) > 0, distrusted: s.distrusted || s.partial, indexes: make([]any, len(s.indexes)),
	}
	for i, index := range s.indexes {
		taken.indexes[i] = index.freeze(&taken.state.objects)
	}
	s.epoch++
	s.snapshot.Store(taken)
	return taken
}

// invalidate discards the snapshot of the current state before a write. During a list, it only records that the list
// has changed the store. Therefore, if a list changes nothing, Snapshot can return the snapshot from before the list
// again.
func (s *Store[T]) invalidate() {
	switch {
	case s.beforeList != nil:
		s.changedByList = true
	case s.snapshot.Load() != nil:
		s.snapshot.Store(nil)
	}
}

// Get returns the object with this key. ok is false if the snapshot has no such object.
func (sn *Snapshot[T]) Get(key lw.Key) (object T, ok bool) {
	_, object, ok = sn.store.find(&sn.state, sn.store.hash(key), key)
	return object, ok
}

// Len returns the number of objects.
func (sn *Snapshot[T]) Len() int { return sn.state.length }

// All iterates over all objects, in no particular order.
func (sn *Snapshot[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		sn.state.objects.All(func(_ uint32, object T) bool { return yield(object) })
	}
}

// ResourceVersion returns the resourceVersion of the collection, or "" before the first list is complete.
func (sn *Snapshot[T]) ResourceVersion() string { return sn.state.version }

// Change describes one change to a store, or one change that a handler receives. The changes of one key follow a fixed
// sequence: Added, any number of Modified, Deleted, and then Added again.
//
// A recreated object has the same key as its predecessor but another UID. It causes two changes, Deleted and then
// Added, even if the Deleted event was missed. The codec supplies the UIDs; see [lw.Identity]. An object without a UID
// is never treated as recreated.
type Change[T any] struct {
	Type lw.EventType // lw.Added, lw.Modified or lw.Deleted
	Old  T            // Modified: the previous object, or New after a resync; Deleted: the last known object
	New  T            // Added and Modified: the current object

	// Initial is true in an Added change if the object was in the first list, or was stored before the handler was
	// registered.
	Initial bool

	// FinalStateUnknown is true in a Deleted change if the Deleted event was missed. Old may then be older than the
	// object's final state. The store detects such a deletion when the object is missing from a complete list, or when
	// it receives an object with the same key but another UID.
	FinalStateUnknown bool
}
