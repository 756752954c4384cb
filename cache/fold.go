package cache

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// DeltaType says what a [Delta] did to the store.
type DeltaType uint8

// The types of deltas. Those of one key alternate: Added, any number of Updated, Deleted, Added again.
const (
	Added DeltaType = iota + 1
	Updated
	Deleted
)

// String returns the type's name.
func (t DeltaType) String() string {
	switch t {
	case Added:
		return "Added"
	case Updated:
		return "Updated"
	case Deleted:
		return "Deleted"
	}
	return "unknown"
}

// Delta is one change of a store.
type Delta[T any] struct {
	Type DeltaType
	Old  T // what the store held: for Updated, and for Deleted, where it is the last state known
	New  T // what it holds now: for Added and Updated

	// Missed: the deletion itself was not seen; a new list lacks the object. Old may be older than what was deleted. An
	// object that was deleted and made again while nobody watched is one Updated with another UID.
	Missed bool
}

// fold applies one event and returns what it changed. The slice is valid until the next call.
func (s *Store[T]) fold(event lw.Event[T]) []Delta[T] {
	clear(s.deltas) // so that they keep no object alive
	s.deltas = s.deltas[:0]
	s.mu.Lock()
	defer s.mu.Unlock()
	switch event.Type {
	case lw.Reset:
		s.generation++
	case lw.Added, lw.Modified:
		s.upsert(event.Object)
	case lw.Deleted:
		s.remove(event.Object)
	case lw.Interrupted:
		s.doubt(event.Break.Err)
	case lw.Synced:
		s.sweep()
		s.doubtful = false
		select {
		case <-s.synced:
		default:
			close(s.synced)
		}
	}
	if event.ResourceVersion != "" {
		s.version = event.ResourceVersion
	}
	return s.deltas
}

// doubt notes that versions may have run backwards, as after a restored backup: an object may then have been written anew
// at the very version that is stored. For objects that cannot be compared, the next list is taken for what it says.
func (s *Store[T]) doubt(cause error) {
	if errors.Is(cause, lw.ErrVersionRegressed) || errors.Is(cause, lw.ErrTooLarge) {
		s.doubtful = true
	}
}

// upsert stores an object. One whose version is known already, as most are in a relist, changes nothing but the mark that
// the list had it.
func (s *Store[T]) upsert(object T) {
	names := s.namespaces[object.GetNamespace()]
	if names == nil {
		names = make(map[string]*entry[T])
		s.namespaces[clone(object.GetNamespace())] = names
	}
	e := names[object.GetName()]
	if e == nil {
		names[clone(object.GetName())] = &entry[T]{object: object, generation: s.generation}
		s.length++
		s.deltas = append(s.deltas, Delta[T]{Type: Added, New: object})
		return
	}
	e.generation = s.generation
	if version := object.GetResourceVersion(); version == "" || version != e.object.GetResourceVersion() || !s.same(e.object, object) {
		s.deltas = append(s.deltas, Delta[T]{Type: Updated, Old: e.object, New: object})
		e.object = object
	}
}

// same tells whether two objects of the same version are the same, as they are unless a restored backup has undone what was
// known of that version.
func (s *Store[T]) same(old, object T) bool {
	if o, ok := any(old).(interface{ Equal(T) bool }); ok {
		return o.Equal(object)
	}
	return !s.doubtful
}

// clone copies a key. An object's name is a part of its text, and as a map's key it would keep the text of the object's
// first state alive for as long as the key is there.
func clone(text string) string { return string([]byte(text)) }

// remove deletes an object, whose last state the event brought.
func (s *Store[T]) remove(object T) {
	names := s.namespaces[object.GetNamespace()]
	if names[object.GetName()] == nil {
		return // a deletion told twice, or of something that the selector never let us see
	}
	delete(names, object.GetName())
	s.forget(object.GetNamespace(), names)
	s.deltas = append(s.deltas, Delta[T]{Type: Deleted, Old: object})
}

// sweep deletes what the list that just ended did not have.
func (s *Store[T]) sweep() {
	for namespace, names := range s.namespaces {
		for name, e := range names {
			if e.generation == s.generation {
				continue
			}
			delete(names, name)
			s.forget(namespace, names)
			s.deltas = append(s.deltas, Delta[T]{Type: Deleted, Old: e.object, Missed: true})
		}
	}
}

// forget counts an object out, and drops its namespace with the last one.
func (s *Store[T]) forget(namespace string, names map[string]*entry[T]) {
	if s.length--; len(names) == 0 {
		delete(s.namespaces, namespace)
	}
}

// known finds the stored object of a key and a version, for [lw.Recaller]. It runs in the Reflector's goroutine, the only
// one that writes, and so needs no lock; looking up a map by a converted slice allocates nothing.
func (s *Store[T]) known(namespace, name, version []byte) (object T, ok bool) {
	e := s.namespaces[string(namespace)][string(name)]
	if e == nil || s.doubtful || len(version) == 0 || e.object.GetResourceVersion() != string(version) {
		return object, false
	}
	return e.object, true
}
