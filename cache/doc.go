// Package cache keeps a [Store] in sync with a collection on the server.
//
//   - An [Informer] applies the events of [lw.ListAndWatch] to a store, and calls handlers with each [Change].
//   - A [Group] runs several informers and starts workers when all informers are synced.
//   - An [Index] finds objects by other keys, for example by namespace, label or owner.
//   - A [Snapshot] is the immutable state of a store at one resourceVersion.
//
// Any goroutine may read a store at any time. While the server is unavailable, the store keeps the last known state.
//
// [Save] writes a snapshot and [Informer.Restore] reads it, so that a new process can start without a list. Package
// savefile saves snapshots to files and restores them.
package cache
