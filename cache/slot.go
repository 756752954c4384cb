package cache

import (
	"unsafe"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Methods that write a slot call prepare on every index before they change anything, because prepare calls user code
// that may panic.

// insertSlot stores a new object in a free slot. hash is the hash of its key.
func (s *Store[T]) insertSlot(hash uint32, object T) (slot uint32) {
	for _, index := range s.indexes {
		index.prepare(0, nil, &object)
	}
	s.invalidate()
	if n := len(s.free); n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
	} else {
		slot = s.next
		s.next++
	}
	s.state.objects.Set(s.epoch, slot, object)
	s.state.table.Insert(s.epoch, hash, slot)
	s.state.length++
	s.commitIndexes(slot)
	return slot
}

// replaceSlot replaces an object with another object of the same key.
func (s *Store[T]) replaceSlot(slot uint32, old, object T) {
	for _, index := range s.indexes {
		index.prepare(slot, &old, &object)
	}
	s.invalidate()
	s.state.objects.Set(s.epoch, slot, object)
	s.commitIndexes(slot)
}

// clearSlot removes an object. hash is the hash of its key.
func (s *Store[T]) clearSlot(slot, hash uint32, old T) {
	for _, index := range s.indexes {
		index.prepare(slot, &old, nil)
	}
	s.invalidate()
	s.state.objects.Clear(s.epoch, slot)
	s.state.table.Remove(s.epoch, hash, slot)
	s.state.length--
	s.free = append(s.free, slot)
	s.commitIndexes(slot)
	if !s.listing { // during a list, objects must keep their slots, because listedSlots contains slot numbers
		s.shrink()
	}
}

func (s *Store[T]) commitIndexes(slot uint32) {
	for _, index := range s.indexes {
		index.commit(s.epoch, slot)
	}
}

const minSlots = 4096 // a store with fewer slots does not shrink

// shrink moves the objects to new slots if most slots are empty, because slots are not freed individually.
func (s *Store[T]) shrink() {
	if s.next < minSlots || int(s.next) < 8*s.state.length {
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
		index.rebuild(s.epoch, moved)
	}
}

// known returns the stored object with this key, UID and resourceVersion. It compares the UIDs, because a recreated
// object can have the resourceVersion of its predecessor in a rebuilt cluster. As in recreated, a missing UID matches
// every UID. It needs no lock, because only the goroutine of the Reflector calls it, and this goroutine is the only
// writer.
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
