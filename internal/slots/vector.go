package slots

import "math/bits"

// Leaves and middles are small, as the first write to one after a snapshot copies it.
const (
	leafBits, middleBits = 3, 4
	topBits              = leafBits + middleBits

	leafMask, middleMask = 1<<leafBits - 1, 1<<middleBits - 1
)

// Vector holds elements by slot number. The zero value is empty.
type Vector[E any] struct {
	top   []*middle[E]
	epoch uint64 // that made top
}

type middle[E any] struct {
	epoch  uint64
	leaves [1 << middleBits]*leaf[E]
}

type leaf[E any] struct {
	epoch uint64
	used  uint32 // a bit for each slot
	slots [1 << leafBits]E
}

// Get returns the element in a slot, if there is one.
func (v *Vector[E]) Get(slot uint32) (element E, ok bool) {
	if l := v.leaf(slot); l != nil && l.used>>(slot&leafMask)&1 != 0 {
		return l.slots[slot&leafMask], true
	}
	return element, false
}

// leaf returns the leaf of a slot, for reading; nil if there is none.
func (v *Vector[E]) leaf(slot uint32) *leaf[E] {
	at := int(slot >> (topBits))
	if at >= len(v.top) {
		return nil
	}
	return v.top[at].leaves[slot>>leafBits&middleMask]
}

// Set puts an element into a slot.
func (v *Vector[E]) Set(epoch uint64, slot uint32, element E) {
	l := v.own(epoch, slot)
	l.used |= 1 << (slot & leafMask)
	l.slots[slot&leafMask] = element
}

// Clear empties a slot.
func (v *Vector[E]) Clear(epoch uint64, slot uint32) {
	var none E
	l := v.own(epoch, slot)
	l.used &^= 1 << (slot & leafMask)
	l.slots[slot&leafMask] = none
}

// own returns the leaf of a slot, for writing: it makes what is not there, and copies what belongs to an earlier epoch.
func (v *Vector[E]) own(epoch uint64, slot uint32) *leaf[E] {
	at := int(slot >> (topBits))
	if v.epoch != epoch {
		v.top, v.epoch = append(make([]*middle[E], 0, max(cap(v.top), at+1)), v.top...), epoch
	}
	for at >= len(v.top) {
		v.top = append(v.top, &middle[E]{epoch: epoch})
	}
	m := v.top[at]
	if m.epoch != epoch {
		m = &middle[E]{epoch: epoch, leaves: m.leaves}
		v.top[at] = m
	}
	l := m.leaves[slot>>leafBits&middleMask]
	switch {
	case l == nil:
		l = &leaf[E]{epoch: epoch}
	case l.epoch != epoch:
		l = &leaf[E]{epoch: epoch, used: l.used, slots: l.slots}
	default:
		return l
	}
	m.leaves[slot>>leafBits&middleMask] = l
	return l
}

// All calls each with every element, in the order of slots, until it returns false. It returns whether all were seen.
func (v *Vector[E]) All(each func(slot uint32, element E) bool) bool {
	for i, m := range v.top {
		for j, l := range m.leaves {
			if l == nil {
				continue
			}
			base := uint32(i<<(topBits) | j<<leafBits)
			for used := l.used; used != 0; used &= used - 1 {
				k := bits.TrailingZeros32(used)
				if !each(base|uint32(k), l.slots[k]) {
					return false
				}
			}
		}
	}
	return true
}

// Changed calls each with every slot that may differ between two states of one vector, with what it holds in either. Nodes
// that both have are skipped, so it costs in proportion to what was written between them.
func Changed[E any](older, newer *Vector[E], each func(slot uint32, before, after E, was, is bool)) {
	for i := range max(len(older.top), len(newer.top)) {
		a, b := middleAt(older, i), middleAt(newer, i)
		if a == b {
			continue
		}
		for j := range 1 << middleBits {
			x, y := leafAt(a, j), leafAt(b, j)
			if x == y {
				continue
			}
			for used := x.used | y.used; used != 0; used &= used - 1 {
				k := bits.TrailingZeros32(used)
				each(uint32(i<<(topBits)|j<<leafBits|k), x.slots[k], y.slots[k], x.used>>k&1 != 0, y.used>>k&1 != 0)
			}
		}
	}
}

func middleAt[E any](v *Vector[E], at int) *middle[E] {
	if at < len(v.top) {
		return v.top[at]
	}
	return nil
}

// leafAt returns a leaf, which is empty where there is none.
func leafAt[E any](m *middle[E], at int) *leaf[E] {
	if m != nil && m.leaves[at] != nil {
		return m.leaves[at]
	}
	return &leaf[E]{}
}
