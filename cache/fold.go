package cache

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Writer changes a store. One goroutine at a time may use it; readers see all that one call does, or nothing of it.
type Writer[T any] struct{ store *Store[T] }

// Fold applies events of a stream, see [lw.EventType], and returns what they changed. The slice is valid until the writer
// is used again.
func (w *Writer[T]) Fold(events ...lw.Event[T]) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	for i := range events {
		s.apply(&events[i])
	}
	return s.changes
}

// Put adds objects, or replaces those of the same keys. The slice is valid until the writer is used again.
func (w *Writer[T]) Put(objects ...T) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	for _, object := range objects {
		s.upsert(object)
	}
	return s.changes
}

// Delete removes the objects with these keys, as far as there are any. The slice is valid until the writer is used again.
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
	return s.changes
}

// Replace makes the store hold these objects and no others, as a list of this resource version does. The slice is valid
// until the writer is used again.
func (w *Writer[T]) Replace(resourceVersion string, objects ...T) []Change[T] {
	s := w.store
	s.beginWrite()
	defer s.mu.Unlock()
	s.apply(&lw.Event[T]{Type: lw.ListStarted})
	for _, object := range objects {
		s.upsert(object)
	}
	s.apply(&lw.Event[T]{Type: lw.Synced, ResourceVersion: resourceVersion})
	return s.changes
}

// beginWrite locks the store for writing.
func (s *Store[T]) beginWrite() {
	clear(s.changes) // so that they keep no object alive
	var none T
	s.changes, s.removed = s.changes[:0], none
	s.mu.Lock()
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
	case lw.Synced:
		s.endList()
	}
	// A list without a resourceVersion forgets the old one, because a watch cannot resume from before the list.
	if (event.ResourceVersion != "" || event.Type == lw.Synced) && event.ResourceVersion != s.state.version {
		s.invalidate()
		s.state.version = event.ResourceVersion
		s.notifyWaiters()
	}
}

// startList starts a list. Until it is complete, snapshots show the state before it.
func (s *Store[T]) startList() {
	if !s.listing {
		s.beforeList = s.freeze()
	}
	s.listing, s.listedCount, s.initial = true, 0, !isClosed(s.synced)
	clear(s.listedSlots)
	clear(s.listErrors)
}

// endList deletes all objects that the list did not contain.
func (s *Store[T]) endList() {
	if s.listing {
		s.deleteUnlisted()
	}
	s.listing, s.initial, s.beforeList, s.distrusted, s.listedSlots = false, false, nil, false, nil
	s.decodeErrors, s.listErrors = s.listErrors, nil
	if s.changedByList {
		s.changedByList = false
		s.invalidate()
	}
	s.shrink()
	select {
	case <-s.synced:
	default:
		close(s.synced)
		s.notifyWaiters()
	}
}

func (s *Store[T]) deleteUnlisted() {
	objects := s.state.objects // as it is now; what is deleted meanwhile does no harm to a loop over slots
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

// distrust forces the next run to start with a list if an error shows that the state may be wrong. After a restored backup, an
// object may have changed without a new resourceVersion. After a misplaced end bookmark, objects may be missing.
func (s *Store[T]) distrust(cause error) {
	if errors.Is(cause, lw.ErrVersionRegressed) || errors.Is(cause, lw.ErrResourceVersionTooLarge) || errors.Is(cause, lw.ErrNoInitialEnd) {
		s.distrusted = true
	}
}

// resumable returns the version from which a watch tells all that the store lacks; "" if only a list does.
func (s *Store[T]) resumable() string {
	if s.listing || s.distrusted {
		return ""
	}
	return s.state.version
}

// upsert stores an object. It replaces a recreated object in one step and reports two changes.
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

// remove deletes an object. If the store holds another object of the same key, the deletion of that object was not observed.
func (s *Store[T]) remove(object T) {
	key := s.key(object)
	hash := s.hash(key)
	s.clearDecodeError(key)
	slot, old, ok := s.find(&s.state, hash, key)
	if !ok {
		return // a deletion told twice, or of something that the selector never let us see
	}
	s.clearSlot(slot, hash, old)
	s.removed = old
	if s.compare.recreated(old, object) {
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old, FinalStateUnknown: true})
		return
	}
	s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object})
}
