package cache

import (
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// What writes a slot first asks the indexes for their keys, which is the user's code and may panic, and only then changes
// anything.

// add puts a new object, whose key has this hash, into a free slot.
func (s *Store[T]) add(hash uint32, object T) (slot uint32) {
	for _, index := range s.indexes {
		index.prepare(0, nil, &object)
	}
	s.changed()
	if n := len(s.free); n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
	} else {
		slot = s.next
		s.next++
	}
	s.state.objects.Set(s.epoch, slot, object)
	s.state.table.Insert(s.epoch, hash, slot)
	s.state.length++
	s.commit(slot)
	return slot
}

// set replaces an object by another one of the same key.
func (s *Store[T]) set(slot uint32, old, object T) {
	for _, index := range s.indexes {
		index.prepare(slot, &old, &object)
	}
	s.changed()
	s.state.objects.Set(s.epoch, slot, object)
	s.commit(slot)
}

// take empties the slot of an object whose key has this hash.
func (s *Store[T]) take(slot, hash uint32, old T) {
	for _, index := range s.indexes {
		index.prepare(slot, &old, nil)
	}
	s.changed()
	s.state.objects.Clear(s.epoch, slot)
	s.state.table.Remove(s.epoch, hash, slot)
	s.state.length--
	s.free = append(s.free, slot)
	s.commit(slot)
	if !s.listing { // the marks of a list are by slot
		s.shrink()
	}
}

func (s *Store[T]) commit(slot uint32) {
	for _, index := range s.indexes {
		index.commit(s.epoch, slot)
	}
}

const fewSlots = 4096 // are never given back

// shrink moves the objects to new slots when most slots are empty, as slots and pages are not given back one by one.
func (s *Store[T]) shrink() {
	if s.next < fewSlots || int(s.next) < 8*s.state.length {
		return
	}
	old, moved := s.state.objects, make(map[uint32]uint32, s.state.length)
	s.state.objects, s.state.table = slots.Vector[T]{}, slots.Table{}
	s.free, s.next = nil, 0
	old.All(func(slot uint32, object T) bool {
		moved[slot] = s.next
		s.state.objects.Set(s.epoch, s.next, object)
		s.state.table.Insert(s.epoch, s.hash(s.key(object)), s.next)
		s.next++
		return true
	})
	for _, index := range s.indexes {
		index.move(s.epoch, moved)
	}
}

// known finds the stored object of a key and a version, for package recall. It needs no lock, because it runs in the goroutine
// of the Reflector, the only one that writes. The key shares the memory of the slices, which do not change during the call.
func (s *Store[T]) known(namespace, name, version []byte) (object T, ok bool) {
	if s.doubtful || len(version) == 0 {
		return object, false
	}
	key := lw.Key{Namespace: unsafe.String(unsafe.SliceData(namespace), len(namespace)), Name: unsafe.String(unsafe.SliceData(name), len(name))}
	_, held, found := s.find(&s.state, s.hash(key), key)
	if !found || s.compare.version(held) != string(version) {
		return object, false
	}
	return held, true
}
