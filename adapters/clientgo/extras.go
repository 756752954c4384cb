package clientgo

import (
	"k8s.io/apimachinery/pkg/runtime"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Extras contains settings that client-go's informers do not have. With the zero value, informers behave like
// client-go's.
type Extras struct {
	// DropManagedFields removes metadata.managedFields from all objects. The field is often half of an object.
	DropManagedFields bool

	// CoalesceEvents merges the queued events of each object into one event. The merged event leads from the last state
	// that the handler received to the current state. The handler receives no event for an object that was created and
	// deleted while the handler was busy.
	CoalesceEvents bool

	// QueueCapacity limits the number of queued events per handler. Zero means no limit. While a queue is full, the
	// informer does not read events, so no handler receives further events. A handler must therefore not wait for a
	// change of the store. QueueCapacity has no effect with CoalesceEvents.
	QueueCapacity int

	// Fields returns the paths of the fields to keep, for example "metadata.labels" and "spec.nodeName". The type of
	// its argument is the type of the objects. [lw.Project] documents the syntax of paths. All other fields are empty.
	// If Fields returns no paths, objects are complete. Creating an informer with a malformed path panics. Informers
	// with paths use JSON.
	Fields func(example runtime.Object) []string

	// Compress stores objects compressed and requests JSON. Each event and each read then takes more CPU time; see
	// package compact. Objects of an informer with a transform are not compressed.
	Compress bool

	// StateDir is a folder in which each informer saves its objects when it stops, and every minute if they have
	// changed. The next informer of the same collection and type resumes from the saved objects without a list.
	// HasSynced then returns true before the first response. Use one folder per cluster and program. Informers with
	// different transforms need different folders. Delete the folder when a transform changes. It may contain Secrets.
	StateDir string

	// Trace returns the trace of an informer, or nil. collection is the path of the collection, for example "/api/v1/pods". The
	// informer calls Trace when it starts.
	Trace func(collection string) *lw.Trace
}

func (e *Extras) policy() lwcache.Policy {
	switch {
	case e.CoalesceEvents:
		return lwcache.Coalesce
	case e.QueueCapacity > 0:
		return lwcache.Block
	}
	return lwcache.Unbounded
}
