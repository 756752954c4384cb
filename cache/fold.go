package cache

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Writer changes a store. One goroutine at a time may use it; readers see all that one call does, or nothing of it.
type Writer[T any] struct{ store *Store[T] }

// Fold applies events of a stream, see [lw.EventType], and returns what they changed. The slice is valid until the writer
// is used again.
func (w *Writer[T]) Fold(events ...lw.Event[T]) []Change[T] {
	s := w.store
	s.begin()
	defer s.mu.Unlock()
	for i := range events {
		s.fold(&events[i])
	}
	return s.changes
}

// Put adds objects, or replaces those of the same keys. The slice is valid until the writer is used again.
func (w *Writer[T]) Put(objects ...T) []Change[T] {
	s := w.store
	s.begin()
	defer s.mu.Unlock()
	for _, object := range objects {
		s.upsert(object)
	}
	return s.changes
}

// Delete removes the objects with these keys, as far as there are any. The slice is valid until the writer is used again.
func (w *Writer[T]) Delete(keys ...lw.Key) []Change[T] {
	s := w.store
	s.begin()
	defer s.mu.Unlock()
	for _, key := range keys {
		hash := s.hash(key)
		if slot, object, ok := s.find(&s.state, hash, key); ok {
			s.take(slot, hash, object)
			s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object})
		}
	}
	return s.changes
}

// Replace makes the store hold these objects and no others, as a list of this resource version does. The slice is valid
// until the writer is used again.
func (w *Writer[T]) Replace(resourceVersion string, objects ...T) []Change[T] {
	s := w.store
	s.begin()
	defer s.mu.Unlock()
	s.fold(&lw.Event[T]{Type: lw.ListStarted})
	for _, object := range objects {
		s.upsert(object)
	}
	s.fold(&lw.Event[T]{Type: lw.Synced, ResourceVersion: resourceVersion})
	return s.changes
}

// begin locks the store for writing.
func (s *Store[T]) begin() {
	clear(s.changes) // so that they keep no object alive
	var none T
	s.changes, s.removed = s.changes[:0], none
	s.mu.Lock()
}

func (s *Store[T]) fold(event *lw.Event[T]) {
	switch event.Type {
	case lw.ListStarted:
		s.startList()
	case lw.Added, lw.Modified:
		s.listed++
		s.upsert(event.Object)
	case lw.Deleted:
		s.remove(event.Object)
	case lw.DecodeFailed:
		s.listed++
		s.keep(event.Err)
	case lw.Interrupted:
		s.doubt(event.Interruption.Err)
	case lw.Synced:
		s.endList()
	}
	// A list without a resourceVersion forgets the old one, because a watch cannot resume from before the list.
	if (event.ResourceVersion != "" || event.Type == lw.Synced) && event.ResourceVersion != s.state.version {
		s.changed()
		s.state.version = event.ResourceVersion
		s.wake()
	}
}

// startList begins to mark what a list has. Snapshots show the last whole state until it is complete.
func (s *Store[T]) startList() {
	if !s.listing {
		s.whole = s.freeze()
	}
	s.listing, s.listed, s.initial = true, 0, !isClosed(s.synced)
	clear(s.seen)
	clear(s.missed)
}

// endList deletes what the list that just ended did not have.
func (s *Store[T]) endList() {
	if s.listing {
		s.sweep()
	}
	s.listing, s.initial, s.whole, s.doubtful, s.seen = false, false, nil, false, nil
	s.decodeErrors, s.missed = s.missed, nil
	if s.outdated {
		s.outdated = false
		s.changed()
	}
	s.shrink()
	select {
	case <-s.synced:
	default:
		close(s.synced)
		s.wake()
	}
}

func (s *Store[T]) sweep() {
	objects := s.state.objects // as it is now; what is deleted meanwhile does no harm to a loop over slots
	objects.All(func(slot uint32, object T) bool {
		if !s.marked(slot) {
			s.take(slot, s.hash(s.key(object)), object)
			s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object, FinalStateUnknown: true})
		}
		return true
	})
}

func (s *Store[T]) marked(slot uint32) bool {
	return int(slot/64) < len(s.seen) && s.seen[slot/64]>>(slot%64)&1 != 0
}

func (s *Store[T]) mark(slot uint32) {
	for s.listing && int(slot/64) >= len(s.seen) {
		s.seen = append(s.seen, 0)
	}
	if s.listing {
		s.seen[slot/64] |= 1 << (slot % 64)
	}
}

// doubt notes that the state may be wrong, so that the next run begins with a list. If resourceVersions ran backwards, for
// example after a restored backup, an object may have been written again at the stored resourceVersion. If the end mark of a
// streaming list came before the objects, some of them may be missing.
func (s *Store[T]) doubt(cause error) {
	if errors.Is(cause, invalid.ErrVersionRegressed) || errors.Is(cause, lw.ErrResourceVersionTooLarge) || errors.Is(cause, invalid.ErrNoInitialEnd) {
		s.doubtful = true
	}
}

// resumable returns the version from which a watch tells all that the store lacks; "" if only a list does.
func (s *Store[T]) resumable() string {
	if s.listing || s.doubtful {
		return ""
	}
	return s.state.version
}

// upsert stores an object. An unchanged object only gets the mark that the current list has it. A recreated object is
// replaced in one step of the store, and two changes describe it.
func (s *Store[T]) upsert(object T) {
	key := s.key(object)
	hash := s.hash(key)
	s.decoded(key)
	slot, old, ok := s.find(&s.state, hash, key)
	switch {
	case !ok:
		s.mark(s.add(hash, object))
		s.changes = append(s.changes, Change[T]{Type: Added, New: object, Initial: s.initial})
		return
	case s.compare.recreated(old, object):
		s.set(slot, old, object)
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old, FinalStateUnknown: true}, Change[T]{Type: Added, New: object, Initial: s.initial})
	case !s.compare.unchanged(old, object, s.doubtful):
		s.set(slot, old, object)
		s.changes = append(s.changes, Change[T]{Type: Modified, Old: old, New: object})
	}
	s.mark(slot)
}

// remove deletes an object. The event has its last state, unless the store holds another object of the same key: the
// deletion of that one was missed.
func (s *Store[T]) remove(object T) {
	key := s.key(object)
	hash := s.hash(key)
	s.decoded(key)
	slot, old, ok := s.find(&s.state, hash, key)
	if !ok {
		return // a deletion told twice, or of something that the selector never let us see
	}
	s.take(slot, hash, old)
	s.removed = old
	if s.compare.recreated(old, object) {
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old, FinalStateUnknown: true})
		return
	}
	s.changes = append(s.changes, Change[T]{Type: Deleted, Old: object})
}
