package slots

import (
	"math/bits"
)

// Leaves are small, because the first write after a snapshot copies a leaf.
const (
	leafBits = 3
	leafMask = 1<<leafBits - 1
)

// Vector maps slot numbers to elements. The zero value is empty. A snapshot shares the list of free slots with the
// vector. This is safe, because only Insert and Clear use the list, and a snapshot calls neither.
type Vector[E any] struct {
	leaves array[leaf[E]]
	free   []uint32 // empty slots below next
	next   uint32   // lowest slot that was never used
}

type leaf[E any] struct {
	epoch uint64
	used  uint32 // bitmap of the slots that hold an element
	slots [1 << leafBits]E
}

// Get returns the element in a slot. ok is false if the slot is empty.
func (v *Vector[E]) Get(slot uint32) (element E, ok bool) {
	if l := v.leaves.get(slot >> leafBits); l != nil && l.used>>(slot&leafMask)&1 != 0 {
		return l.slots[slot&leafMask], true
	}
	return element, false
}

// Size returns the number of slots that have been used, including the slots that are empty now.
func (v *Vector[E]) Size() int { return int(v.next) }

// Insert stores an element in an empty slot and returns the slot. epoch is the writer's current epoch.
func (v *Vector[E]) Insert(epoch uint64, element E) (slot uint32) {
	if n := len(v.free); n > 0 {
		slot, v.free = v.free[n-1], v.free[:n-1]
	} else {
		slot = v.next
		v.next++
	}
	l := v.own(epoch, slot)
	l.used |= 1 << (slot & leafMask)
	l.slots[slot&leafMask] = element
	return slot
}

// Set replaces the element in a slot, which must not be empty.
func (v *Vector[E]) Set(epoch uint64, slot uint32, element E) {
	v.own(epoch, slot).slots[slot&leafMask] = element
}

// Clear empties a slot, which must not be empty.
func (v *Vector[E]) Clear(epoch uint64, slot uint32) {
	var none E
	l := v.own(epoch, slot)
	l.used &^= 1 << (slot & leafMask)
	l.slots[slot&leafMask] = none
	v.free = append(v.free, slot)
}

// own returns the leaf that holds a slot, ready for modification. It creates a missing leaf, and replaces a leaf from
// an earlier epoch with a copy.
func (v *Vector[E]) own(epoch uint64, slot uint32) *leaf[E] {
	l := v.leaves.get(slot >> leafBits)
	switch {
	case l == nil:
		l = &leaf[E]{epoch: epoch}
	case l.epoch != epoch:
		l = &leaf[E]{epoch: epoch, used: l.used, slots: l.slots}
	default:
		return l
	}
	v.leaves.set(epoch, slot>>leafBits, l)
	return l
}

// All calls a func for every element in slot order until the func returns false. It reports whether it visited all
// elements.
func (v *Vector[E]) All(each func(slot uint32, element E) bool) bool {
	return v.leaves.all(func(at uint32, l *leaf[E]) bool {
		for used := l.used; used != 0; used &= used - 1 {
			k := bits.TrailingZeros32(used)
			if !each(at<<leafBits|uint32(k), l.slots[k]) {
				return false
			}
		}
		return true
	})
}
