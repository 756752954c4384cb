package clientgo

import lwcache "github.com/seed-6d2a410a/listwatch/cache"

// Extras are settings that the informers of client-go do not have. With the zero value informers behave like those of client-go.
type Extras struct {
	// DropManagedFields leaves metadata.managedFields out of all objects. They are often half of an object.
	DropManagedFields bool

	// CoalesceEvents merges the events that wait for a handler, so that one event per object waits. It leads from the state that
	// the handler knows to the present one. An object that was created and deleted in the meantime has no event. Without it all
	// events wait, which takes memory without limit.
	CoalesceEvents bool
}

func (e Extras) policy() lwcache.Policy {
	if e.CoalesceEvents {
		return lwcache.Coalesce
	}
	return lwcache.Unbounded
}
