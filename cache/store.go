package cache

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Store holds the last known state of every object of one collection. It finds objects by key and by the indexes that
// [NewIndex] adds. All methods may be called concurrently. Objects are shared and must not be modified. A store has one
// writer: an [Informer] or a [Writer].
type Store[T any] struct {
	key     func(T) lw.Key
	seed    maphash.Seed // random, so that an attacker cannot choose names that all have the same hash
	compare comparison[T]
	from    collection // selectors of the collection; Save writes them, so that Restore can reject other selectors

	mu      sync.RWMutex
	state   state[T]
	indexes []indexer[T]
	synced  chan struct{} // closed when the server has confirmed the whole state
	// waiters contains the channel of each blocked call of WaitFor, and the resourceVersion that the call waits for.
	waiters map[chan struct{}]string
	// decodeErrors contains the last error of each object that could not be decoded. While it contains any, Save fails,
	// because a run that resumed from the saved state would never receive these objects. The exception is a distrusted
	// store, because its next run lists all objects.
	decodeErrors map[lw.Key]decodeFailure
	// epoch makes snapshots cheap. A snapshot shares all nodes of state with the store and starts a new epoch. A later write
	// recognizes the shared nodes by their older epoch, and copies them before it changes them.
	epoch uint64
	// snapshot is the last snapshot, or nil if it is outdated. All calls of Snapshot before the next write return the same
	// snapshot.
	snapshot atomic.Pointer[Snapshot[T]]
	// beforeList is the snapshot of the state before the current list. During a list, Snapshot returns it, because the store
	// then mixes objects of two resourceVersions. It is nil if no list is in progress.
	beforeList *Snapshot[T]
	// changedByList is true if the current list has changed the store. If it is still false at the end of the list, the
	// snapshot from before the list stays valid, and Snapshot returns it again.
	changedByList bool
	// distrusted is true if an object may have changed without a new resourceVersion, for example because the server was
	// restored from a backup. The next run then starts with a list, and until this list is complete, objects with the same
	// resourceVersion do not count as equal. See Store.distrust.
	distrusted bool

	// Only the writer uses the remaining fields.
	listing     bool     // true from the event ListStarted until Synced or Restored
	lists       int      // number of lists that have started; endList uses it to remove the decode errors of earlier lists
	listedCount int      // number of objects in the current list
	listedSlots []uint64 // bitmap of the slots whose objects are in the current list; endList deletes the other objects
	initial     bool     // the current list is the first list, so that its changes have Change.Initial
	// partial is true after Informer.ResumeFrom, because the store then lacks the objects that have not changed since. So
	// verify must not expect them, and Save must not call the store complete.
	partial  bool
	restored bool        // the objects come from a saved state; Synced stays open until the server has confirmed them
	changes  []Change[T] // changes of the last write; the next write reuses the array
	// writing is true during a write, and stays true if a panic interrupts the write. The next write must then keep the
	// earlier changes.
	writing bool
	// removed is the stored object that the last Deleted event removed. Filters need it, because the object in the event
	// may be newer.
	removed T
}

// state contains the fields of a store that a snapshot copies.
type state[T any] struct {
	objects slots.Vector[T]
	table   slots.Table // maps the hash of a key to a slot of objects
	length  int
	version string // resourceVersion of the collection; older than the objects during a list
}

// NewStore returns an empty store and its only writer. The func key returns the key of an object. It may be nil if T
// implements [lw.Keyed]. identity defines how objects are compared. Its zero value uses the methods of T. For objects
// that a codec decodes, use [lw.Codec.Identity]. T may be an interface type.
//
// If T does not implement lw.Keyed, it should support ==, or identity should have an Equal func. Without either, each
// write of an object counts as a change.
func NewStore[T any](key func(T) lw.Key, identity lw.Identity[T]) (*Store[T], *Writer[T]) {
	s := &Store[T]{key: key, seed: maphash.MakeSeed(), synced: make(chan struct{}), waiters: map[chan struct{}]string{}, decodeErrors: map[lw.Key]decodeFailure{}, compare: newComparison(identity)}
	if s.key == nil {
		if s.compare.version == nil {
			panic("cache: NewStore needs a key func for a type that does not implement lw.Keyed")
		}
		s.key = func(object T) lw.Key { return lw.KeyOf(any(object).(lw.Keyed)) }
	}
	return s, &Writer[T]{s}
}

func (s *Store[T]) hash(key lw.Key) uint32 { return uint32(maphash.Comparable(s.seed, key) >> 32) } // any 32 bits would do

// find returns the object with this key, and its slot. It searches the state `in`, which belongs to the store or to a
// snapshot. hash is the key's hash.
func (s *Store[T]) find(in *state[T], hash uint32, key lw.Key) (slot uint32, object T, ok bool) {
	slot, ok = in.table.Find(hash, func(slot uint32) bool {
		object, _ = in.objects.Get(slot)
		return s.key(object) == key
	})
	if !ok { // object may be one with the same hash but another key
		var none T
		object = none
	}
	return slot, object, ok
}

// Get returns the object with this key. ok is false if the store has no such object.
func (s *Store[T]) Get(key lw.Key) (object T, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, object, ok = s.find(&s.state, s.hash(key), key)
	return object, ok
}

// Len returns the number of objects.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.length
}

// List returns all objects, in no particular order. To iterate without copying them, use [Snapshot.All].
func (s *Store[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	objects := make([]T, 0, s.state.length)
	s.state.objects.All(func(_ uint32, object T) bool {
		objects = append(objects, object)
		return true
	})
	return objects
}

// Synced returns a channel that is closed when the first list is complete, or when the server has confirmed a restored
// state. Until then the store contains only some of the objects, or outdated ones. If a run ends early, the channel
// stays open, because another run may follow. Therefore a caller should also wait for the Done channel of the run's
// context.
func (s *Store[T]) Synced() <-chan struct{} { return s.synced }

// ResourceVersion returns the resourceVersion that the store has reached, or "" before the first list is complete.
// During a relist the store may already hold newer objects, but the objects in a [Snapshot] always match its
// resourceVersion. If several objects change at one resourceVersion, a snapshot between their events has the previous
// resourceVersion.
func (s *Store[T]) ResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.version
}

// WaitFor blocks until the store has reached a resourceVersion through an event, a bookmark or a list. Later reads then
// show every write up to this resourceVersion. WaitFor compares resourceVersions by the rules of KEP-5504. If they
// cannot be compared, it waits until they are equal. For "" and "0", which name no state, it blocks until the channel
// of [Store.Synced] is closed. If ctx is done first, WaitFor returns context.Cause(ctx).
func (s *Store[T]) WaitFor(ctx context.Context, resourceVersion string) error {
	s.mu.Lock()
	if s.hasReached(resourceVersion) {
		s.mu.Unlock()
		return nil // even if ctx is done
	}
	reached := make(chan struct{})
	s.waiters[reached] = resourceVersion
	s.mu.Unlock()
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiters, reached)
		return context.Cause(ctx)
	}
}

func (s *Store[T]) hasReached(wanted string) bool {
	if wanted == "" || wanted == "0" {
		return isClosed(s.synced)
	}
	if order, ok := lw.CompareResourceVersions(s.state.version, wanted); ok {
		return order >= 0
	}
	return s.state.version == wanted
}

// notifyWaiters wakes the callers whose resourceVersion has been reached.
func (s *Store[T]) notifyWaiters() {
	for reached, wanted := range s.waiters {
		if s.hasReached(wanted) {
			close(reached)
			delete(s.waiters, reached)
		}
	}
}

// DecodeErrors returns the last error of each object that the codec could not decode, in no particular order. The store
// keeps the previous state of such an object, if any. The error is cleared when a later state is decoded or the object
// is deleted.
func (s *Store[T]) DecodeErrors() []*lw.DecodeError {
	s.mu.RLock()
	defer s.mu.RUnlock()
	errs := make([]*lw.DecodeError, 0, len(s.decodeErrors))
	for _, failure := range s.decodeErrors {
		errs = append(errs, failure.err)
	}
	return errs
}

// decodeFailure is the last decode error of an object.
type decodeFailure struct {
	err  *lw.DecodeError
	list int // value of Store.lists at the time of the error; shows whether the error belongs to the current list
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
