package cache

import (
	"slices"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// postings maps each key of an index to the slots of the objects with this key.
type postings[K comparable] struct {
	table slots.Table
	cells slots.Vector[*posting[K]]
}

type posting[K comparable] struct {
	key   K
	slots slots.Set // slots of the objects with the key; never empty
	epoch uint64    // slots may be modified in place only in this epoch
}

// find returns the posting of a key and its cell. The posting is nil if no object has the key.
func (x *Index[T, K]) find(key K) (cell uint32, found *posting[K]) {
	cell, ok := x.postings.table.Find(x.hash(key), func(cell uint32) bool {
		found, _ = x.postings.cells.Get(cell)
		return found.key == key
	})
	if !ok {
		return 0, nil
	}
	return cell, found
}

// prepare computes the keys of the old and the new object. It uses the cached key of the old object if possible.
func (x *Index[T, K]) prepare(slot uint32, old, object *T) {
	x.old, x.new = x.old[:0], x.new[:0]
	if old != nil {
		cachedCell := uint32(0)
		if int(slot) < len(x.singleKey) {
			cachedCell = x.singleKey[slot]
		}
		x.old = x.appendKeys(x.old, *old, cachedCell)
	}
	if object != nil {
		x.new = x.appendKeys(x.new, *object, 0)
	}
}

// appendKeys appends the distinct keys of an object to a slice. cachedCell is the object's entry in x.singleKey, or
// zero if the keys must be computed. The keys func may return a slice that belongs to the object, so appendKeys copies
// the keys.
func (x *Index[T, K]) appendKeys(to []K, object T, cachedCell uint32) []K {
	if x.scratch == nil {
		x.scratch = make([]K, 1, 8)
	}
	keys := x.scratch
	if cachedCell > 0 {
		p, _ := x.postings.cells.Get(cachedCell - 1)
		keys[0] = p.key
	} else {
		keys = x.keys(object, keys[:0])
	}
	for _, key := range keys {
		if !slices.Contains(to, key) {
			to = append(to, key)
		}
	}
	clear(x.scratch[:cap(x.scratch)]) // releases the keys, which may share the memory of an object
	return to
}

func (x *Index[T, K]) commit(epoch uint64, slot uint32) {
	if !slices.Equal(x.old, x.new) {
		x.change(epoch, slot)
	}
	clear(x.old) // releases the keys, which may share the memory of an object
	clear(x.new)
}

func (x *Index[T, K]) change(epoch uint64, slot uint32) {
	for _, key := range x.old {
		if !slices.Contains(x.new, key) {
			x.remove(epoch, key, slot)
		}
	}
	cachedCell := uint32(0)
	for _, key := range x.new {
		if !slices.Contains(x.old, key) {
			cachedCell = x.insert(epoch, key, slot) + 1
		}
	}
	if x.store.compare.equal != nil {
		x.setSingleKey(slot, cachedCell)
	}
}

// setSingleKey caches the cell of an object's key if the object has only one key. It is called only for types with an
// Equal method such as *lw.Object, because computing their keys requires parsing JSON.
func (x *Index[T, K]) setSingleKey(slot, cachedCell uint32) {
	for int(slot) >= len(x.singleKey) {
		x.singleKey = append(x.singleKey, 0)
	}
	if len(x.new) > 1 {
		cachedCell = 0
	}
	x.singleKey[slot] = cachedCell
}

// insert adds slot to the posting of key and returns the cell of the posting.
func (x *Index[T, K]) insert(epoch uint64, key K, slot uint32) uint32 {
	cell, p := x.find(key)
	if p == nil {
		if n := len(x.free); n > 0 {
			cell, x.free = x.free[n-1], x.free[:n-1]
		} else {
			cell = x.next
			x.next++
		}
		p = &posting[K]{key: cloneKey(key), epoch: epoch}
		x.postings.table.Insert(epoch, x.hash(key), cell)
		x.postings.cells.Set(epoch, cell, p)
	}
	x.ownPosting(epoch, cell, p).slots.Insert(epoch, slot)
	return cell
}

func (x *Index[T, K]) remove(epoch uint64, key K, slot uint32) {
	cell, p := x.find(key)
	if p == nil || !p.slots.Has(slot) {
		return // the object was modified in place, or the key does not equal itself, like NaN
	}
	if p.slots.Len() > 1 {
		x.ownPosting(epoch, cell, p).slots.Remove(epoch, slot)
		return
	}
	x.postings.cells.Clear(epoch, cell)
	x.postings.table.Remove(epoch, x.hash(key), cell)
	x.free = append(x.free, cell)
}

// ownPosting returns p if p belongs to this epoch. Otherwise it replaces p with a copy and returns the copy, which may
// be modified.
func (x *Index[T, K]) ownPosting(epoch uint64, cell uint32, p *posting[K]) *posting[K] {
	if p.epoch != epoch {
		p = &posting[K]{key: p.key, slots: p.slots, epoch: epoch}
		x.postings.cells.Set(epoch, cell, p)
	}
	return p
}

// rebuild updates all postings after the objects have moved. The keys of newSlots are the objects' previous slots.
func (x *Index[T, K]) rebuild(epoch uint64, newSlots map[uint32]uint32) {
	old := x.postings
	x.postings, x.free, x.next, x.singleKey = postings[K]{}, nil, 0, nil
	old.cells.All(func(_ uint32, p *posting[K]) bool {
		return p.slots.All(func(slot uint32) bool {
			x.insert(epoch, p.key, newSlots[slot])
			return true
		})
	})
}

// cloneKey copies a string key, because it may share the memory of an object.
func cloneKey[K comparable](key K) K {
	switch text := any(key).(type) {
	case string:
		return any(clone(text)).(K)
	case lw.Key:
		return any(lw.Key{Namespace: clone(text.Namespace), Name: clone(text.Name)}).(K)
	}
	return key
}

func clone(text string) string { return string([]byte(text)) }
