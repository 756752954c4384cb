package cache

import (
	"errors"
	"maps"
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Writer changes a store. Only one goroutine may use it at a time. Readers see all changes of one method call at once.
// If an index func panics, the next call of a method also returns the changes that were made before the panic.
type Writer[T any] struct{ store *Store[T] }

// Put adds objects or replaces the stored objects with the same keys. It returns the changes. The slice is valid until
// the next use of the writer.
func (w *Writer[T]) Put(objects ...T) []Change[T] {
	return w.store.update(func(s *Store[T]) {
		for _, object := range objects {
			s.upsert(object)
		}
	})
}

// Delete removes the objects with these keys and ignores missing keys. It returns the changes. The slice is valid until
// the next use of the writer.
func (w *Writer[T]) Delete(keys ...lw.Key) []Change[T] {
	return w.store.update(func(s *Store[T]) {
		for _, key := range keys {
			s.remove(key)
		}
	})
}

// Replace replaces all objects in the store, like a list at this resourceVersion. It returns the changes. The slice
// is valid until the next use of the writer.
func (w *Writer[T]) Replace(resourceVersion string, objects ...T) []Change[T] {
	return w.store.update(func(s *Store[T]) {
		s.startList()
		for _, object := range objects {
			s.upsert(object)
		}
		s.endList()
		s.markSynced()
		s.setVersion(resourceVersion)
	})
}

// update calls write while the store is locked, and returns the resulting changes. It first discards the changes of the
// previous call. If a panic interrupted that call, update keeps them, because no caller has received them.
func (s *Store[T]) update(write func(*Store[T])) []Change[T] {
	if !s.writing {
		clear(s.changes) // lets the garbage collector free the objects
		s.changes = s.changes[:0]
	}
	var none T
	s.writing, s.removed = true, none
	s.mu.Lock()
	defer s.mu.Unlock()
	write(s)
	return s.endWrite()
}

// endWrite ends a write and returns its changes. After a panic, the informer calls it to receive the changes that were
// made before the panic.
func (s *Store[T]) endWrite() []Change[T] {
	s.writing = false
	return s.changes
}

// apply applies an event to the store and returns the resulting changes. [lw.EventType] describes the events. The slice
// is valid until the next write.
func (s *Store[T]) apply(event lw.Event[T]) []Change[T] {
	return s.update(func(s *Store[T]) {
		switch event.Type {
		case lw.ListStarted:
			s.startList()
		case lw.Added, lw.Modified:
			s.listedCount++ // only used during a list
			s.upsert(event.Object)
		case lw.Deleted:
			s.applyDeletion(event.Object)
		case lw.DecodeFailed:
			s.listedCount++
			s.applyDecodeError(event.Err)
		case lw.Interrupted:
			if cause := event.Interruption.Err; errors.Is(cause, lw.ErrInconsistent) || errors.Is(cause, lw.ErrResourceVersionTooLarge) {
				s.distrust()
			}
		case lw.Restored:
			s.endList()
			s.restored = true
		case lw.Synced:
			s.endList()
			s.partial = false
			s.markSynced()
		case lw.WatchStarted:
			if s.restored { // the server still has the history since the restored state
				s.markSynced()
			}
		}
		// A list without a resourceVersion clears the previous resourceVersion, because a watch must not resume from a
		// state before the list.
		if event.ResourceVersion != "" || event.Type == lw.Synced || event.Type == lw.Restored {
			s.setVersion(event.ResourceVersion)
		}
	})
}

func (s *Store[T]) setVersion(version string) {
	if version != s.state.version {
		s.invalidate()
		s.state.version = version
		s.notifyWaiters()
	}
}

// startList prepares the store for a list. Until the list is complete, snapshots show the state before the list.
func (s *Store[T]) startList() {
	if !s.listing { // a restarted list keeps beforeList, because the store already contains objects of the failed attempt
		s.beforeList = s.freeze()
	}
	s.listing, s.listedCount, s.initial = true, 0, !isClosed(s.synced) && !s.restored
	s.lists++
	clear(s.listedSlots)
}

// endList deletes the objects that the list did not contain. If no list is in progress, it deletes nothing.
func (s *Store[T]) endList() {
	if s.listing {
		objects := s.state.objects // a copy, because the loop removes objects from the original
		objects.All(func(slot uint32, object T) bool {
			if int(slot/64) >= len(s.listedSlots) || s.listedSlots[slot/64]>>(slot%64)&1 == 0 {
				s.write(lw.Deleted, slot, s.hash(s.key(object)), object, object)
				s.changes = append(s.changes, Change[T]{Type: lw.Deleted, Old: object, FinalStateUnknown: true})
			}
			return true
		})
		maps.DeleteFunc(s.decodeErrors, func(_ lw.Key, failure decodeFailure) bool { return failure.list != s.lists })
	}
	// Snapshot must not return a snapshot again that says that the store must relist.
	changed := s.changedByList || s.distrusted || s.partial
	s.listing, s.initial, s.beforeList, s.distrusted, s.changedByList, s.listedSlots = false, false, nil, false, false, nil
	if changed {
		s.invalidate()
	}
	s.shrink()
}

// markListed records that the current list contains the object in this slot.
func (s *Store[T]) markListed(slot uint32) {
	if !s.listing {
		return
	}
	for int(slot/64) >= len(s.listedSlots) {
		s.listedSlots = append(s.listedSlots, 0)
	}
	s.listedSlots[slot/64] |= 1 << (slot % 64)
}

// markSynced records that the server has confirmed the store's state.
func (s *Store[T]) markSynced() {
	s.restored = false
	if !isClosed(s.synced) {
		close(s.synced)
		s.notifyWaiters()
	}
}

// distrust makes the next run start with a list, because the store may be wrong. There are two causes. If
// resourceVersions ran backwards, for example because a backup was restored, an object may have changed without a new
// resourceVersion. The same may be true if the server has not reached the store's resourceVersion. If the
// initial-events-end bookmark came too early, objects may be missing. Later snapshots are marked as distrusted, so that a
// process that restores one of them also starts with a list. Snapshots that callers already have must not change.
// Therefore distrust discards the current snapshot and replaces beforeList with a copy.
// The caller must hold the store's lock.
func (s *Store[T]) distrust() {
	s.distrusted = true
	s.snapshot.Store(nil)
	if s.beforeList != nil {
		doubtful := *s.beforeList
		doubtful.distrusted = true
		s.beforeList = &doubtful
	}
}

// resumable returns the resourceVersion from which a watch can resume, or "" if a list is necessary.
func (s *Store[T]) resumable() string {
	if s.listing || s.distrusted {
		return ""
	}
	return s.state.version
}

// verify reports whether the store agrees with the server. If it returns false, the stream relists. first is an object
// that the server returned for the collection, or nil if the collection is empty. Only the writer calls verify.
func (s *Store[T]) verify(first lw.Keyed) bool {
	if s.partial {
		return true // the store does not contain the objects that existed before the run
	}
	if first == nil {
		// The stored objects may just have been deleted, but a relist of an empty collection is cheap.
		return s.state.length == 0
	}
	object, ok := any(first).(T)
	order, ordered := lw.CompareResourceVersions(first.GetResourceVersion(), s.state.version)
	if !ok || !ordered { // without a comparable resourceVersion, the object shows nothing about the store
		return true
	}
	key := s.key(object)
	_, stored, found := s.find(&s.state, s.hash(key), key)
	switch {
	case s.decodeErrors[key].err != nil:
		return true // the store cannot hold this object's current state, and a relist would not change that
	case found && s.compare.recreated(stored, object):
		return false // the object was recreated, or the server was rebuilt, which looks the same
	case order > 0:
		return true // the object has changed since, and the watch must deliver the change
	}
	// The object is not newer than the store, so the store must contain this state of it.
	return found && (s.compare.version == nil || s.compare.version(stored) == first.GetResourceVersion())
}

// upsert stores an object. If the object was recreated, upsert replaces it in one step and reports two changes.
func (s *Store[T]) upsert(object T) {
	key := s.key(object)
	hash := s.hash(key)
	delete(s.decodeErrors, key)
	slot, old, ok := s.find(&s.state, hash, key)
	switch {
	case !ok:
		slot = s.write(lw.Added, 0, hash, old, object)
		s.changes = append(s.changes, Change[T]{Type: lw.Added, New: object, Initial: s.initial})
	case s.compare.recreated(old, object):
		s.write(lw.Modified, slot, hash, old, object)
		s.changes = append(s.changes, Change[T]{Type: lw.Deleted, Old: old, FinalStateUnknown: true}, Change[T]{Type: lw.Added, New: object, Initial: s.initial})
	case !s.compare.unchanged(old, object, s.distrusted):
		s.write(lw.Modified, slot, hash, old, object)
		s.changes = append(s.changes, Change[T]{Type: lw.Modified, Old: old, New: object})
	}
	s.markListed(slot)
}

// applyDeletion removes the object that a Deleted event contains. If the stored object has another UID, the Deleted
// event for the stored object was missed.
func (s *Store[T]) applyDeletion(object T) {
	key := s.key(object)
	delete(s.decodeErrors, key)
	if !s.remove(key) {
		return // the event is repeated, or the store never contained the object, for example because of the list's selectors
	}
	last := &s.changes[len(s.changes)-1]
	s.removed = last.Old
	if s.compare.recreated(last.Old, object) {
		last.FinalStateUnknown = true
	} else {
		last.Old = object
	}
}

// remove removes the object with this key. It returns false if the store has no such object.
func (s *Store[T]) remove(key lw.Key) bool {
	hash := s.hash(key)
	slot, old, ok := s.find(&s.state, hash, key)
	if ok {
		s.write(lw.Deleted, slot, hash, old, old)
		s.changes = append(s.changes, Change[T]{Type: lw.Deleted, Old: old})
	}
	return ok
}

// applyDecodeError records an object that could not be decoded. If the event is a deletion, the stored object is
// removed. Otherwise, the store keeps it.
func (s *Store[T]) applyDecodeError(err *lw.DecodeError) {
	if err.Type == lw.Deleted {
		s.remove(err.Key)
		delete(s.decodeErrors, err.Key)
		return
	}
	s.invalidate() // the next snapshot must be marked as incomplete
	s.decodeErrors[err.Key] = decodeFailure{err, s.lists}
	if slot, _, ok := s.find(&s.state, s.hash(err.Key), err.Key); ok {
		s.markListed(slot)
	}
}

// write adds, replaces or removes the object in a slot and updates the indexes. hash is the hash of the object's key. An
// added object gets a free slot, which write returns. All indexes compute their keys before anything changes, because
// their funcs are user code that may panic.
func (s *Store[T]) write(kind lw.EventType, slot, hash uint32, old, object T) uint32 {
	for _, index := range s.indexes {
		index.prepare(kind, slot, old, object)
	}
	s.invalidate()
	switch kind {
	case lw.Added:
		slot = s.state.objects.Insert(s.epoch, object)
		s.state.table.Insert(s.epoch, hash, slot)
		s.state.length++
	case lw.Modified:
		s.state.objects.Set(s.epoch, slot, object)
	case lw.Deleted:
		s.state.objects.Clear(s.epoch, slot)
		s.state.table.Remove(s.epoch, hash, slot)
		s.state.length--
	}
	for _, index := range s.indexes {
		index.commit(s.epoch, slot)
	}
	// During a list, objects must keep their slots, because listedSlots contains slot numbers.
	if kind == lw.Deleted && !s.listing {
		s.shrink()
	}
	return slot
}

const minSlots = 4096 // a store with fewer slots does not shrink, because it would free little memory

// shrink moves the objects to new slots if at least seven of eight slots are empty, because slots are not freed
// individually. Moving is so rare that its cost per deletion is small.
func (s *Store[T]) shrink() {
	if size := s.state.objects.Size(); size < minSlots || size < 8*s.state.length {
		return
	}
	old, moved := s.state.objects, make(map[uint32]uint32, s.state.length)
	s.state.objects, s.state.table = slots.Vector[T]{}, slots.Table{}
	old.All(func(slot uint32, object T) bool {
		moved[slot] = s.state.objects.Insert(s.epoch, object)
		s.state.table.Insert(s.epoch, s.hash(s.key(object)), moved[slot])
		return true
	})
	for _, index := range s.indexes {
		index.rebuild(s.epoch, moved)
	}
}

// known returns the stored object with this key, UID and resourceVersion, so that a client need not decode the object
// again. It compares the UIDs, because in a rebuilt cluster, a recreated object can have the resourceVersion of its
// predecessor. A missing UID matches every UID, as in recreated. A distrusted store returns no object, because any
// object may have changed without a new resourceVersion. known needs no lock, because only the goroutine of the run
// calls it, and this goroutine is the only writer. The temporary key shares the memory of the byte slices, which is
// safe because known does not keep the key.
func (s *Store[T]) known(namespace, name, uid, version []byte) (object T, ok bool) {
	if s.distrusted || len(version) == 0 {
		return object, false
	}
	key := lw.Key{Namespace: unsafe.String(unsafe.SliceData(namespace), len(namespace)), Name: unsafe.String(unsafe.SliceData(name), len(name))}
	_, stored, found := s.find(&s.state, s.hash(key), key)
	if !found || s.compare.version(stored) != string(version) {
		return object, false
	}
	if s.compare.uid != nil && len(uid) > 0 {
		if before := s.compare.uid(stored); before != "" && before != string(uid) {
			return object, false
		}
	}
	return stored, true
}
