package cache

// ChangeType is the type of a [Change].
type ChangeType uint8

// The types of changes.
const (
	Added ChangeType = iota + 1
	Modified
	Deleted
)

// String returns the name of the type.
func (t ChangeType) String() string {
	switch t {
	case Added:
		return "Added"
	case Modified:
		return "Modified"
	case Deleted:
		return "Deleted"
	}
	return "unknown"
}

// Change is one change of a store, or one that a handler receives. The changes of one key are a legal sequence: Added, any
// number of Modified, Deleted, Added again.
//
// An object that was recreated has the same key and another UID. It is two changes, Deleted and then Added, even if the
// deletion was not seen. The store compares two UIDs that are not empty. T must have a method GetUID() string. In programs
// that import lw/codec the result may be any string type, for example types.UID. Without UIDs a recreated object is Modified.
type Change[T any] struct {
	Type ChangeType
	Old  T // Modified: the object before. Deleted: the last known state of the object
	New  T // Added and Modified: the object now

	// Initial marks an Added of an object that is part of the first list, or that was there before the handler.
	Initial bool

	// FinalStateUnknown marks a Deleted whose event was not seen, so Old may be older than the final state. The store found
	// the deletion because a complete list lacks the object, or because its key now has another UID.
	FinalStateUnknown bool

	// Resync marks a Modified without a change: Old and New are the same. See HandlerOptions.Resync.
	Resync bool
}
