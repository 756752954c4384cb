package cache

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Writer changes a store. Only one goroutine may use it at a time. Readers see all changes of one method call at once.
// If an index func panics, the changes that were made before are part of the next result.
type Writer[T any] struct{ store *Store[T] }

// fold applies events of a stream to the store and returns the resulting changes. See [lw.EventType]. The slice is
// valid until the next use of the writer.
func (w *Writer[T]) fold(events ...lw.Event[T]) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	for i := range events {
		s.apply(&events[i])
	}
	return s.endWrite()
}

// Put adds objects or replaces the stored objects with the same keys. It returns the changes. The slice is valid until
// the next use of the writer.
func (w *Writer[T]) Put(objects ...T) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	for _, object := range objects {
		s.upsert(object)
	}
	return s.endWrite()
}

// Delete removes the objects with these keys and ignores missing keys. It returns the changes. The slice is valid until
// the next use of the writer.
func (w *Writer[T]) Delete(keys ...lw.Key) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	for _, key := range keys {
		hash := s.hash(key)
		if slot, object, ok := s.find(&s.state, hash, key); ok {
			s.clearSlot(slot, hash, object)
			s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object})
		}
	}
	return s.endWrite()
}

// Replace replaces all objects of the store, like a list at this resourceVersion. It returns the changes. The slice is
// valid until the next use of the writer.
func (w *Writer[T]) Replace(resourceVersion string, objects ...T) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	s.apply(&lw.Event[T]{Type: lw.ListStarted})
	for _, object := range objects {
		s.upsert(object)
	}
	s.apply(&lw.Event[T]{Type: lw.Synced, ResourceVersion: resourceVersion})
	return s.endWrite()
}

// beginWrite locks the store for writing and discards the changes from the previous call. If a panic interrupted that
// call, beginWrite keeps its changes, because the caller has not received them. The caller must unlock the store.
func (s *Store[T]) beginWrite() {
	if !s.writing {
		clear(s.changes) // lets the garbage collector free the objects
		s.changes = s.changes[:0]
	}
	var none T
	s.writing, s.removed = true, none
	s.mu.Lock()
}

// endWrite returns the changes since beginWrite.
func (s *Store[T]) endWrite() []Change[T] {
	s.writing = false
	return s.changes
}

func (s *Store[T]) apply(event *lw.Event[T]) {
	switch event.Type {
	case lw.ListStarted:
		s.startList()
	case lw.Added, lw.Modified:
		s.listedCount++
		s.upsert(event.Object)
	case lw.Deleted:
		s.remove(event.Object)
	case lw.DecodeFailed:
		s.listedCount++
		s.applyDecodeError(event.Err)
	case lw.Interrupted:
		s.distrust(event.Interruption.Err)
	case lw.Restored:
		s.endList()
		s.restored = true
	case lw.Synced:
		s.partial = false
		s.endList()
		s.markSynced()
	case lw.WatchStarted:
		if s.restored {
			s.markSynced()
		}
	}
	// A list without a resourceVersion clears the previous resourceVersion, because a watch must not resume from a
	// state before the list.
	if (event.ResourceVersion != "" || event.Type == lw.Synced || event.Type == lw.Restored) && event.ResourceVersion != s.state.version {
		s.invalidate()
		s.state.version = event.ResourceVersion
		s.notifyWaiters()
	}
}

// startList prepares the store for a list. Until the list is complete, snapshots show the state before the list.
func (s *Store[T]) startList() {
	if !s.listing {
		s.beforeList = s.freeze()
	}
	s.listing, s.listedCount, s.initial = true, 0, !isClosed(s.synced) && !s.restored
	clear(s.listedSlots)
	clear(s.listErrors)
}

// endList deletes the objects that the list did not contain.
func (s *Store[T]) endList() {
	if s.listing {
		s.deleteUnlisted()
	}
	changed := s.changedByList || s.distrusted // a snapshot that was taken while the store was distrusted stays distrusted
	s.listing, s.initial, s.beforeList, s.distrusted, s.changedByList, s.listedSlots = false, false, nil, false, false, nil
	s.decodeErrors, s.listErrors = s.listErrors, nil
	if changed {
		s.invalidate()
	}
	s.shrink()
}

// markSynced records that the server has confirmed the state of the store.
func (s *Store[T]) markSynced() {
	s.restored = false
	if !isClosed(s.synced) {
		close(s.synced)
		s.notifyWaiters()
	}
}

func (s *Store[T]) deleteUnlisted() {
	objects := s.state.objects // a copy, because the loop clears slots of the original
	objects.All(func(slot uint32, object T) bool {
		if !s.isListed(slot) {
			s.clearSlot(slot, s.hash(s.key(object)), object)
			s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object, FinalStateUnknown: true})
		}
		return true
	})
}

func (s *Store[T]) isListed(slot uint32) bool {
	return int(slot/64) < len(s.listedSlots) && s.listedSlots[slot/64]>>(slot%64)&1 != 0
}

func (s *Store[T]) setListed(slot uint32) {
	for s.listing && int(slot/64) >= len(s.listedSlots) {
		s.listedSlots = append(s.listedSlots, 0)
	}
	if s.listing {
		s.listedSlots[slot/64] |= 1 << (slot % 64)
	}
}

// distrust makes the next run start with a list if the store may be wrong after this error. If resourceVersions ran
// backwards or the server was replaced, for example after a backup was restored, an object may have changed without a new
// resourceVersion. If the initial-events-end bookmark came too early, objects may be missing. Later snapshots remember
// this, so that a process that restores a saved snapshot also starts with a list.
func (s *Store[T]) distrust(cause error) {
	switch {
	case errors.Is(cause, lw.ErrVersionRegressed), errors.Is(cause, lw.ErrReplaced), errors.Is(cause, lw.ErrResourceVersionTooLarge), errors.Is(cause, lw.ErrNoInitialEnd):
		s.setDistrusted()
	}
}

func (s *Store[T]) setDistrusted() {
	s.distrusted = true
	s.snapshot.Store(nil)
	if s.beforeList != nil {
		doubtful := *s.beforeList
		doubtful.distrusted = true
		s.beforeList = &doubtful
		s.snapshot.Store(s.beforeList)
	}
}

// resumable returns the resourceVersion from which a watch can resume, or "" if a list is necessary.
func (s *Store[T]) resumable() string {
	if s.listing || s.distrusted {
		return ""
	}
	return s.state.version
}

// verify reports whether the store agrees with the server. first is an object of the collection on the server, or nil if
// the collection is empty. Only the writer calls verify.
func (s *Store[T]) verify(first lw.Keyed) bool {
	if s.partial {
		return true // the store lacks objects that existed before
	}
	if first == nil {
		return s.state.length == 0 // the objects may have been deleted since, but a relist of an empty collection costs little
	}
	object, ok := any(first).(T)
	order, ordered := lw.CompareResourceVersions(first.GetResourceVersion(), s.state.version)
	if !ok || !ordered {
		return true
	}
	key := s.key(object)
	_, stored, found := s.find(&s.state, s.hash(key), key)
	switch {
	case s.decodeErrors[key] != nil:
		return true
	case found && s.compare.recreated(stored, object):
		return false // a recreation cannot be told from a rebuilt server
	case order > 0:
		return true // the watch must deliver this change
	}
	return found && (s.compare.version == nil || s.compare.version(stored) == first.GetResourceVersion())
}

// upsert stores an object. If the object was recreated, upsert replaces it in one step and reports two changes.
func (s *Store[T]) upsert(object T) {
	key := s.key(object)
	hash := s.hash(key)
	s.clearDecodeError(key)
	slot, old, ok := s.find(&s.state, hash, key)
	switch {
	case !ok:
		s.setListed(s.insertSlot(hash, object))
		s.changes = append(s.changes, Change[T]{Type: Added, New: object, Initial: s.initial})
		return
	case s.compare.recreated(old, object):
		s.replaceSlot(slot, old, object)
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old, FinalStateUnknown: true}, Change[T]{Type: Added, New: object, Initial: s.initial})
	case !s.compare.unchanged(old, object, s.distrusted):
		s.replaceSlot(slot, old, object)
		s.changes = append(s.changes, Change[T]{Type: Modified, Old: old, New: object})
	}
	s.setListed(slot)
}

// remove deletes the stored object with the same key. If the stored object has another UID, the Deleted event of the
// stored object was missed.
func (s *Store[T]) remove(object T) {
	key := s.key(object)
	hash := s.hash(key)
	s.clearDecodeError(key)
	slot, old, ok := s.find(&s.state, hash, key)
	if !ok {
		return // a repeated Deleted event, or an object that the selectors of the list exclude
	}
	s.clearSlot(slot, hash, old)
	s.removed = old
	if s.compare.recreated(old, object) {
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old, FinalStateUnknown: true})
		return
	}
	s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object})
}
