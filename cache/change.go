package cache

// ChangeType distinguishes additions, modifications and deletions.
type ChangeType uint8

// Added, Modified and Deleted are the types of a [Change].
const (
	Added ChangeType = iota + 1
	Modified
	Deleted
)

// String returns "Added", "Modified" or "Deleted".
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

// Change describes one change to a store, or one change that a handler receives. The changes of one key follow a fixed
// sequence: Added, any number of Modified, Deleted, and then Added again.
//
// If an object was recreated, the new object has the same key and another UID. A recreation causes two changes, Deleted
// and then Added, even if the Deleted event was missed. The codec supplies the UIDs; see [lw.Identity]. An object without
// a UID is never treated as recreated.
type Change[T any] struct {
	Type ChangeType
	Old  T // Modified: the previous object; Deleted: the last known object
	New  T // Added and Modified: the current object

	// Initial is true in an Added change if the object was in the first list, or was stored before the handler was
	// registered.
	Initial bool

	// FinalStateUnknown is true in a Deleted change if the Deleted event was missed. Old may then be older than the
	// object's final state. The store detects such a deletion when a complete list lacks the object, or when the
	// object's key has another UID.
	FinalStateUnknown bool

	// Resync is true in a Modified change that a resync caused. Old and New are the same object. See
	// HandlerOptions.Resync.
	Resync bool
}
