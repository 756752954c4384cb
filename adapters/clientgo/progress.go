package clientgo

import (
	"context"
	"net/url"

	"k8s.io/client-go/tools/cache"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Progress shows how far an informer's store has followed its collection. It decodes no objects.
type Progress struct {
	informer *informer
	store    *lwcache.Store[*object]
}

// ProgressOf returns an informer's progress. ok is false in the same cases as for [StateOf].
func ProgressOf(shared interface{ HasSynced() bool }) (p Progress, ok bool) {
	if shared, ok := shared.(cache.SharedInformer); ok {
		if x, ok := shared.GetStore().(*indexer); ok { // client-go's typed factory wraps the informer, but not its store
			return Progress{x.informer, x.store}, true
		}
	}
	return Progress{}, false
}

// State returns the same state as [StateOf].
func (p Progress) State() lw.State { return p.informer.inner.State() }

// HasSynced returns the same value as the informer's method.
func (p Progress) HasSynced() bool { return p.informer.HasSynced() }

// ResourceVersion returns the resourceVersion that the store has reached, or "" before the first list is complete.
func (p Progress) ResourceVersion() string { return p.store.ResourceVersion() }

// WaitFor blocks until the store has reached a resourceVersion. If ctx is done first, it returns context.Cause(ctx).
func (p Progress) WaitFor(ctx context.Context, resourceVersion string) error {
	return p.store.WaitFor(ctx, resourceVersion)
}

// UID returns the UID of a stored object. ok is false if the object is not in the store.
func (p Progress) UID(namespace, name string) (uid string, ok bool) {
	o, ok := p.store.Get(lw.Key{Namespace: namespace, Name: name})
	if !ok {
		return "", false
	}
	return o.GetUID(), true
}

// Collection returns the informer's collection, the URL path of its API version such as "/apis/apps/v1", and its selectors as
// query parameters. It sends no request. It returns an error if the ListerWatcher cannot build a request.
func (p Progress) Collection(ctx context.Context) (resource lw.Resource, version string, selectors url.Values, err error) {
	c, err := p.informer.source.resolve(ctx)
	if err != nil {
		return resource, "", nil, err
	}
	resource, version = c.resource()
	selectors, err = url.ParseQuery(c.query)
	return resource, version, selectors, err
}
