package clientgo

import (
	"k8s.io/apimachinery/pkg/runtime"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Extras contains settings that client-go's informers do not have. With the zero value, informers behave like
// client-go's.
type Extras struct {
	// DropManagedFields removes metadata.managedFields from all objects. This field often makes up half of an object.
	DropManagedFields bool

	// CoalesceEvents merges the queued events of each object into one event. The merged event describes the change from
	// the last state that the handler received to the current state. If an object was created and deleted while the
	// handler was busy, the handler receives no event.
	CoalesceEvents bool

	// QueueCapacity limits the number of queued events per handler. Zero means no limit. While one queue is full, the
	// informer reads no events, so no handler receives new events. A handler must therefore not wait for a change of
	// the store. QueueCapacity has no effect with CoalesceEvents.
	QueueCapacity int

	// Fields returns the paths of the fields to keep, for example "metadata.labels" and "spec.nodeName". example has
	// the type of the informer's objects. All other fields are left empty. If Fields returns no paths, the informer
	// keeps all fields. Otherwise, the informer requests JSON. [lw.Project] documents the syntax. A malformed path
	// causes a panic when the informer is created.
	Fields func(example runtime.Object) []string

	// Compress stores objects compressed and requests JSON. Each event and each read takes more CPU time; see package
	// compact. Objects of an informer with a transform are not compressed.
	Compress bool

	// StateDir is a folder in which each informer saves its objects when it stops, and every minute if they have
	// changed. The next informer of the same collection and type resumes from the saved objects without a list.
	// HasSynced returns true when the server has confirmed the saved objects. Until then, [StateOf] reports [lw.Stale].
	//
	// Use a separate folder for each cluster, each program and each transform. Several processes of one program may
	// share a folder. Delete the folder when a transform changes. The saved objects may contain Secrets.
	StateDir string

	// Random returns numbers in [0, 1) for the jitter of delays and timeouts. Set it to a seeded source to make a test
	// repeatable; see [lw.Options.Random]. All informers call it, so it must be safe for concurrent use if there are
	// several.
	Random func() float64

	// Trace returns the trace of an informer, or nil. collection is the URL path of the collection, for example
	// "/api/v1/pods". The informer calls Trace when it starts.
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
