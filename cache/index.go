package cache

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cache/internal/slots"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Index finds objects in a store by keys that a func computes. The store keeps its indexes up to date. An index that
// [Index.In] returns never changes. All methods may be called concurrently.
type Index[T any, K comparable] struct {
	store   *Store[T]
	live    *Index[T, K] // the index in the store; x itself unless x belongs to a snapshot
	removed bool         // Remove was called
	keys    func(T, []K) []K
	seed    maphash.Seed              // random, so that an attacker cannot choose keys that all have the same hash
	objects *slots.Vector[T]          // objects of the store, or of the snapshot
	table   slots.Table               // maps the hash of a key to the cell of its posting
	cells   slots.Vector[*posting[K]] // a cell is the slot of a posting in this vector

	// Only the store's writer uses the remaining fields.

	// singleKey remembers the key of each object that has only one key. Without it, each update of an object would have
	// to compute the old key again, which is slow for keys in JSON. It maps the object's slot to the cell of its key,
	// plus one. Zero means that the key is not remembered.
	singleKey []uint32
	old, new  []K // keys of the object before and after the current write; prepare computes them, and commit uses them
	scratch   []K // buffer for the result of the keys func
}

// posting lists the objects that share a key.
type posting[K comparable] struct {
	key   K
	slots slots.Set // slots of the objects with the key; never empty
	epoch uint64    // slots may be modified in place only in this epoch, because a later snapshot may share them; see Store.epoch
}

// indexer declares the methods of an [Index] that a store calls. It has no type parameter for the keys, so that a store
// can hold indexes with different key types.
type indexer[T any] interface {
	// prepare computes the keys before and after a change. It changes nothing, so a panic of the keys func leaves the
	// index intact.
	prepare(kind lw.EventType, slot uint32, old, object T)
	commit(epoch uint64, slot uint32)           // applies the change that prepare has received
	rebuild(epoch uint64, to map[uint32]uint32) // moves the index to new slots, given the new slot of each old slot
	freeze(objects *slots.Vector[T]) any        // returns an immutable *Index for the objects of a snapshot
}

// NewIndex adds an index to a store. From then on, the store keeps the index up to date. NewIndex may be called at any
// time. The func keys appends any number of keys of an object to a slice and returns the slice. It must always return
// the same keys for the same object. The store is locked during the call, so the func must not use the store. See
// [ByNamespace] and [ByField].
func NewIndex[T any, K comparable](store *Store[T], keys func(object T, to []K) []K) *Index[T, K] {
	x := &Index[T, K]{store: store, keys: keys, seed: maphash.MakeSeed(), objects: &store.state.objects}
	x.live = x
	store.mu.Lock()
	defer store.mu.Unlock()
	x.build(store.epoch)
	store.indexes = append(store.indexes, x)
	store.snapshot.Store(nil) // the next call of Snapshot must return one with the new index
	return x
}

func (x *Index[T, K]) build(epoch uint64) {
	x.objects.All(func(slot uint32, object T) bool {
		x.prepare(lw.Added, slot, object, object)
		x.commit(epoch, slot)
		return true
	})
}

// Remove removes the index from its store and frees its memory. List and Keys then panic, because an empty result would
// be wrong. Indexes returned by In remain valid, and Remove has no effect on them. Repeated calls have no effect
// either.
func (x *Index[T, K]) Remove() {
	s := x.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.live != x {
		return
	}
	s.indexes = slices.DeleteFunc(s.indexes, func(other indexer[T]) bool { return other == indexer[T](x) })
	s.snapshot.Store(nil) // the next call of Snapshot must return one without the index
	x.removed, x.table, x.cells, x.singleKey = true, slots.Table{}, slots.Vector[*posting[K]]{}, nil
}

// In returns the index at a snapshot of its store. The returned index never changes. If the snapshot does not contain
// the index, In builds the index from all objects of the snapshot. This is the case if the snapshot was taken before
// NewIndex or after Remove. In panics if the snapshot belongs to another store.
func (x *Index[T, K]) In(snapshot *Snapshot[T]) *Index[T, K] {
	if snapshot.store != x.store {
		panic("cache: the snapshot belongs to another store")
	}
	for _, frozen := range snapshot.indexes {
		if frozen, ok := frozen.(*Index[T, K]); ok && frozen.live == x.live {
			return frozen
		}
	}
	rebuilt := &Index[T, K]{store: x.store, live: x.live, keys: x.keys, seed: x.seed, objects: &snapshot.state.objects}
	rebuilt.build(0) // the epoch does not matter, because nothing modifies the result later
	return rebuilt
}

func (x *Index[T, K]) freeze(objects *slots.Vector[T]) any {
	return &Index[T, K]{store: x.store, live: x, keys: x.keys, seed: x.seed, objects: objects, table: x.table, cells: x.cells}
}

// rlock locks the store for reading, except if x is the index of a snapshot, which never changes. It panics if the
// index was removed.
func (x *Index[T, K]) rlock() {
	if x.live != x {
		return
	}
	x.store.mu.RLock()
	if x.removed {
		x.store.mu.RUnlock()
		panic("cache: the index was removed from its store")
	}
}

func (x *Index[T, K]) runlock() {
	if x.live == x {
		x.store.mu.RUnlock()
	}
}

// List returns the objects with this key, in no particular order. The cost is proportional to the number of objects
// returned.
func (x *Index[T, K]) List(key K) []T {
	x.rlock()
	defer x.runlock()
	_, p := x.find(key)
	if p == nil {
		return nil
	}
	objects := make([]T, 0, p.slots.Len())
	p.slots.All(func(slot uint32) bool {
		object, _ := x.objects.Get(slot)
		objects = append(objects, object)
		return true
	})
	return objects
}

// Keys returns the distinct keys of all objects, in no particular order.
func (x *Index[T, K]) Keys() (keys []K) {
	x.rlock()
	defer x.runlock()
	x.cells.All(func(_ uint32, p *posting[K]) bool {
		keys = append(keys, p.key)
		return true
	})
	return keys
}

func (x *Index[T, K]) hash(key K) uint32 { return uint32(maphash.Comparable(x.seed, key) >> 32) }

// find returns the posting of a key and its cell. The posting is nil if no object has the key.
func (x *Index[T, K]) find(key K) (cell uint32, found *posting[K]) {
	cell, ok := x.table.Find(x.hash(key), func(cell uint32) bool {
		found, _ = x.cells.Get(cell)
		return found.key == key
	})
	if !ok {
		return 0, nil
	}
	return cell, found
}

// prepare computes the keys of the old and the new object. If the old object's key is cached, prepare uses the cached
// key.
func (x *Index[T, K]) prepare(kind lw.EventType, slot uint32, old, object T) {
	x.old, x.new = x.old[:0], x.new[:0]
	switch {
	case kind == lw.Added:
	case int(slot) < len(x.singleKey) && x.singleKey[slot] > 0:
		p, _ := x.cells.Get(x.singleKey[slot] - 1)
		x.old = append(x.old, p.key)
	default:
		x.old = x.appendKeys(x.old, old)
	}
	if kind != lw.Deleted {
		x.new = x.appendKeys(x.new, object)
	}
}

// appendKeys appends the distinct keys of an object to a slice. The keys func may return a slice that belongs to the
// object, so appendKeys copies the keys.
func (x *Index[T, K]) appendKeys(to []K, object T) []K {
	if x.scratch == nil { // created on first use, because the index of a snapshot rarely computes keys
		x.scratch = make([]K, 0, 8) // an object with more keys makes the keys func allocate
	}
	for _, key := range x.keys(object, x.scratch) {
		if !slices.Contains(to, key) {
			to = append(to, key)
		}
	}
	clear(x.scratch[:cap(x.scratch)]) // releases the keys, which may share the memory of an object
	return to
}

// commit moves a slot from the postings of its old keys to the postings of its new keys.
func (x *Index[T, K]) commit(epoch uint64, slot uint32) {
	if !slices.Equal(x.old, x.new) {
		cell := uint32(0)
		for _, key := range x.old {
			if !slices.Contains(x.new, key) {
				x.remove(epoch, key, slot)
			}
		}
		for _, key := range x.new {
			if !slices.Contains(x.old, key) {
				cell = x.insert(epoch, key, slot) + 1
			}
		}
		x.cacheSingleKey(slot, cell)
	}
	clear(x.old) // releases the keys, which may share the memory of an object
	clear(x.new)
}

// cacheSingleKey caches the cell of an object's key, plus one, if the object has only one key. It does so only if the
// store has an Equal func. Types with an Equal func, such as *lw.Object, usually hold JSON, and the keys func must
// parse the JSON. For Go structs, computing a key again is cheaper than caching it.
func (x *Index[T, K]) cacheSingleKey(slot, cell uint32) {
	if x.store.compare.equal == nil {
		return
	}
	for int(slot) >= len(x.singleKey) {
		x.singleKey = append(x.singleKey, 0)
	}
	if len(x.new) > 1 {
		cell = 0
	}
	x.singleKey[slot] = cell
}

// insert adds slot to the posting of key and returns the cell of the posting.
func (x *Index[T, K]) insert(epoch uint64, key K, slot uint32) uint32 {
	cell, p := x.find(key)
	if p == nil {
		p = &posting[K]{key: cloneKey(key), epoch: epoch}
		cell = x.cells.Insert(epoch, p)
		x.table.Insert(epoch, x.hash(key), cell)
	}
	x.ownPosting(epoch, cell, p).slots.Insert(epoch, slot)
	return cell
}

// remove removes slot from the posting of key. It has no effect if the posting does not contain the slot. This happens
// if the object was modified in place, or if the key is NaN, which does not equal itself.
func (x *Index[T, K]) remove(epoch uint64, key K, slot uint32) {
	cell, p := x.find(key)
	if p == nil {
		return
	}
	p = x.ownPosting(epoch, cell, p)
	if p.slots.Remove(epoch, slot); p.slots.Len() == 0 {
		x.cells.Clear(epoch, cell)
		x.table.Remove(epoch, x.hash(key), cell)
	}
}

// ownPosting returns p if it was created in this epoch. Otherwise it replaces p with a copy and returns the copy. The
// result may be modified.
func (x *Index[T, K]) ownPosting(epoch uint64, cell uint32, p *posting[K]) *posting[K] {
	if p.epoch != epoch {
		p = &posting[K]{key: p.key, slots: p.slots, epoch: epoch}
		x.cells.Set(epoch, cell, p)
	}
	return p
}

// rebuild updates all postings after Store.shrink has moved the objects. The keys of newSlots are the objects' previous
// slots.
func (x *Index[T, K]) rebuild(epoch uint64, newSlots map[uint32]uint32) {
	old := x.cells
	x.table, x.cells, x.singleKey = slots.Table{}, slots.Vector[*posting[K]]{}, nil
	old.All(func(_ uint32, p *posting[K]) bool {
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
		return any(strings.Clone(text)).(K)
	case lw.Key:
		return any(lw.Key{Namespace: strings.Clone(text.Namespace), Name: strings.Clone(text.Name)}).(K)
	}
	return key
}

// ByNamespace is a func for [NewIndex] that indexes objects by namespace. Cluster-scoped objects have the namespace "".
func ByNamespace[T lw.Keyed](object T, keys []string) []string {
	return append(keys, object.GetNamespace())
}

// ByField indexes objects by the field at path; see [lw.Value.Get]. A string is indexed by its text, any other scalar
// by its JSON, and an array by each of its scalar elements. If the field is missing, null or a JSON object, the object
// is not in the index. For a label, use a path such as `metadata.labels.app\.kubernetes\.io/name`.
func ByField(path string) func(*lw.Object, []string) []string {
	return func(object *lw.Object, keys []string) []string {
		return appendScalars(keys, object.Get(path))
	}
}

// appendScalars appends a scalar value as a string. For an array, it appends each scalar element.
func appendScalars(keys []string, value lw.Value) []string {
	switch {
	case !value.Exists(), value.Raw()[0] == '{', value.Raw() == "null":
		return keys
	case value.Raw()[0] == '[':
		for element := range value.Elements() {
			if element.Raw()[0] != '[' {
				keys = appendScalars(keys, element)
			}
		}
		return keys
	}
	return append(keys, value.String())
}
