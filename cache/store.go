package cache

import (
	"iter"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Store holds the last known state of every object of one collection, found by key and by namespace. All methods may run
// concurrently. The objects are shared: do not change them. Only the store's [Reflector] writes.
type Store[T lw.Keyed] struct {
	mu         sync.RWMutex
	namespaces map[string]map[string]*entry[T] // by namespace, then by name; no inner map is empty
	length     int
	version    string
	synced     chan struct{}

	// The rest belongs to the Reflector's goroutine.
	generation uint64 // of the list that is being folded in
	doubtful   bool   // an object of the same version may be another one
	deltas     []Delta[T]
}

type entry[T any] struct {
	object     T
	generation uint64 // of the list that had the object last
}

func newStore[T lw.Keyed]() *Store[T] {
	return &Store[T]{namespaces: make(map[string]map[string]*entry[T]), synced: make(chan struct{})}
}

// Get returns the object with a key.
func (s *Store[T]) Get(key lw.Key) (object T, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if e := s.namespaces[key.Namespace][key.Name]; e != nil {
		return e.object, true
	}
	return object, false
}

// Len returns how many objects there are.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.length
}

// List returns all objects, in no particular order.
func (s *Store[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	objects := make([]T, 0, s.length)
	for _, names := range s.namespaces {
		for _, e := range names {
			objects = append(objects, e.object)
		}
	}
	return objects
}

// All iterates over all objects as they were when the iteration began, in no particular order. The store may be used
// within the loop.
func (s *Store[T]) All() iter.Seq[T] { return over(s.List) }

// Namespace iterates over the objects of one namespace, in the manner of All. It costs in proportion to their number.
func (s *Store[T]) Namespace(namespace string) iter.Seq[T] {
	return over(func() []T {
		s.mu.RLock()
		defer s.mu.RUnlock()
		objects := make([]T, 0, len(s.namespaces[namespace]))
		for _, e := range s.namespaces[namespace] {
			objects = append(objects, e.object)
		}
		return objects
	})
}

func over[T any](list func() []T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, object := range list() {
			if !yield(object) {
				return
			}
		}
	}
}

// Synced returns a channel that is closed when the first list is complete. Until then the store holds a part of it.
func (s *Store[T]) Synced() <-chan struct{} { return s.synced }

// ResourceVersion returns the version of the collection that the store has reached; "" before the first list is complete.
// While a list is being folded in anew, the store may hold newer objects than this.
func (s *Store[T]) ResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}
