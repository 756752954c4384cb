package cache

import (
	"hash/maphash"
	"iter"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Store holds the last known state of every object of one collection, found by key, by the indexes that [NewIndex] adds,
// and as immutable snapshots. All methods may run concurrently. The objects are shared: do not change them. Only the
// store's writer changes it, which is a [Reflector], or a [Writer].
type Store[T any] struct {
	key     func(T) lw.Key
	seed    maphash.Seed
	compare comparison[T]

	mu                       lock.RWMutex
	state                    state[T]
	indexes                  []indexer[T]
	epoch                    uint64 // that owns what is written from now on; a snapshot begins another
	waiters                  []waiter
	synced                   chan struct{}
	decodeErrors, listErrors map[lw.Key]*lw.DecodeError  // by key, in all and of the list that is being folded in
	snapshot                 atomic.Pointer[Snapshot[T]] // of the present state; nil when it is not made yet
	beforeList               *Snapshot[T]                // the snapshot before the current list
	changedByList            bool                        // the current list has changed something

	// The rest belongs to the writer.
	free        []uint32 // slots below next that are empty
	next        uint32   // the first slot that was never used
	listing     bool     // between Reset and Synced
	listedCount int      // objects of the current list
	initial     bool     // it is the first list
	listedSlots []uint64 // a bit for each slot whose object is in the current list
	distrusted  bool     // objects may have changed without a new resourceVersion
	changes     []Change[T]
	removed     T // the stored object that the last Deleted event removed; the event has its final state
}

// state is what a snapshot copies.
type state[T any] struct {
	objects slots.Vector[T]
	table   slots.Table // from the hash of a key to a slot of objects
	length  int
	version string
}

// NewStore returns an empty store of objects of any type, and its only writer. key returns the key of an object. It may be nil
// if objects have the methods of [lw.Keyed]. T may be an interface type.
//
// A type without these methods should be comparable by == or have a method Equal(T) bool. Otherwise every object that is
// written again counts as changed.
func NewStore[T any](key func(T) lw.Key) (*Store[T], *Writer[T]) {
	s := &Store[T]{key: key, seed: maphash.MakeSeed(), synced: make(chan struct{}), compare: newComparison[T]()}
	if s.key == nil {
		if s.compare.version == nil {
			panic("cache: NewStore needs a key func for a type without GetNamespace, GetName and GetResourceVersion")
		}
		s.key = func(object T) lw.Key { return lw.KeyOf(any(object).(lw.Keyed)) }
	}
	return s, &Writer[T]{s}
}

func (s *Store[T]) hash(key lw.Key) uint32 { return uint32(maphash.Comparable(s.seed, key) >> 32) }

// find returns the slot of an object, whose key has this hash.
func (s *Store[T]) find(in *state[T], hash uint32, key lw.Key) (slot uint32, object T, ok bool) {
	slot, ok = in.table.Find(hash, func(slot uint32) bool {
		object, _ = in.objects.Get(slot)
		return s.key(object) == key
	})
	if !ok {
		var none T
		object = none
	}
	return slot, object, ok
}

// Get returns the object with a key.
func (s *Store[T]) Get(key lw.Key) (object T, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, object, ok = s.find(&s.state, s.hash(key), key)
	return object, ok
}

// Len returns how many objects there are.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.length
}

// List returns all objects, in no particular order.
func (s *Store[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.list()
}

func (in *state[T]) list() []T {
	objects := make([]T, 0, in.length)
	in.objects.All(func(_ uint32, object T) bool {
		objects = append(objects, object)
		return true
	})
	return objects
}

// All iterates over all objects as they were when the iteration began, in no particular order. The store may be used
// within the loop.
func (s *Store[T]) All() iter.Seq[T] { return iterate(s.List) }

func iterate[T any](list func() []T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, object := range list() {
			if !yield(object) {
				return
			}
		}
	}
}

// Synced returns a channel that is closed when the first list is complete. Until then the store holds a part of it. It is not
// closed when a run ends before that, as another may follow: wait for the run's context, too.
func (s *Store[T]) Synced() <-chan struct{} { return s.synced }

// ResourceVersion returns the version of the collection that the store has reached; "" before the first list is complete.
// While a list is being folded in anew, the store may hold newer objects than this; a [Snapshot] never does, save of a source
// that writes several objects at one version: in their midst it has the version before.
func (s *Store[T]) ResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.version
}
