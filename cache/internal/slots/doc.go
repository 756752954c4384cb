// Package slots provides the data structures of package cache, whose stores have cheap snapshots. Objects live in
// numbered slots of a [Vector]. A [Table] maps the hash of a key to a slot. A [Set] is a set of slots, for example of
// the objects with the same key in an index.
//
// All structures are copy-on-write. Each node records the epoch in which it was created, and is modified in place only
// in that epoch. A copy of a struct is therefore a snapshot, provided that the owner uses a higher epoch afterwards.
// Taking a snapshot copies only a few words. The first later write to a node copies the node. Only one goroutine may
// write at a time. Any number of goroutines may read a snapshot, even while the owner writes.
//
// Slots and nodes are not freed individually. If most slots become empty, the owner should build a new structure.
package slots
