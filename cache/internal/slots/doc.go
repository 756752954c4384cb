// Package slots holds the structures of which a store with cheap snapshots is made. Objects live in numbered slots of a
// [Vector]; a [Table] leads from the hash of a key to a slot; a [Set] is a set of slots.
//
// All of them are copied on write, by epochs. A copy of the struct is a snapshot, if the owner goes on with a higher epoch
// from then on: each node carries the epoch in which it was made, and is changed in place only in that epoch. So a
// snapshot costs a few words, and the first write to a node after it one copy of the node. Writes come from one goroutine
// at a time; a snapshot may be read by any number of them, while the owner writes on.
//
// Slots and pages are not given back: an owner that shrank a lot makes a new one.
package slots
