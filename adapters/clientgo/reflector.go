package clientgo

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ReflectorOptions contains the settings of a [Reflector]. The zero value is valid.
type ReflectorOptions struct {
	// ResyncPeriod is the time between two calls of the store's Resync method. Zero means that it is never called.
	ResyncPeriod time.Duration
	// WatchErrorHandler is called for the same failures as in client-go. If it is nil, the reflector logs the failures.
	WatchErrorHandler cache.WatchErrorHandlerWithContext

	// Extras apply to the requests and the objects. CoalesceEvents, QueueCapacity, Compress and StateDir have no effect.
	Extras
}

// Reflector feeds its caller's store with the objects of a collection, like [cache.Reflector]. It keeps no objects
// itself.
type Reflector struct {
	informer *informer // sends the requests, decodes the objects and reports failures; its own store stays empty
	store    cache.ReflectorStore
	resync   time.Duration
	version  atomic.Value // result of LastSyncResourceVersion: a string, or nil before the first list
}

// NewReflector returns a reflector that starts when its Run method is called. See [NewSharedIndexInformerWithOptions] for
// the requirements on lister and example.
//
// The reflector makes the same calls to the store as client-go's reflector. It calls Replace for a list, and Add,
// Update or Delete for an event. Delete receives the last state of the object. If the store implements
// [cache.ReflectorBookmarkStore] or [cache.ResourceVersionUpdater], it also receives resourceVersions. The store owns
// all objects that it receives.
//
// An object that cannot be decoded is reported and skipped. If Replace returns an error, the reflector relists.
func NewReflector(lister cache.ListerWatcher, example runtime.Object, store cache.ReflectorStore, opts ReflectorOptions) *Reflector {
	opts.Extras.StateDir, opts.Extras.Compress = "", false
	i := newInformer(&source{lister: cache.ToListerWatcherWithContext(lister)}, lister, example, InformerOptions{Extras: opts.Extras})
	i.onError = opts.WatchErrorHandler
	i.codec.repeated = nil // because the reflector keeps no objects that could share values
	return &Reflector{informer: i, store: store, resync: opts.ResyncPeriod}
}

// LastSyncResourceVersion returns the resourceVersion that the store has reached, or "" before the first list.
func (r *Reflector) LastSyncResourceVersion() string {
	version, _ := r.version.Load().(string)
	return version
}

// Run feeds the store until stop is closed. It can be called once.
func (r *Reflector) Run(stop <-chan struct{}) { r.RunWithContext(wait.ContextForChannel(stop)) }

// RunWithContext feeds the store until ctx is done. It can be called once.
func (r *Reflector) RunWithContext(ctx context.Context) {
	i := r.informer
	if err := i.beforeStart(func() { i.started, i.ctx = true, ctx }); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "the reflector has already started", i.about()...)
		return
	}
	ctx, stop := context.WithCancel(i.traced(ctx))
	var resyncing sync.WaitGroup
	defer resyncing.Wait()
	defer stop()
	if r.resync > 0 {
		resyncing.Go(func() { wait.UntilWithContext(ctx, r.resyncStore, r.resync) })
	}
	// follow ends if the store has rejected a list, if ctx is done, or if interrupted stops it. Only a rejected list is
	// retried. The pause of one second gives the store time to recover. The ignored error can only report that ctx is
	// done.
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) { return !r.follow(ctx), nil })
}

func (r *Reflector) resyncStore(ctx context.Context) {
	if r.LastSyncResourceVersion() != "" { // before the first list, there is nothing to resync
		r.check(ctx, r.store.Resync(), "resync the store")
	}
}

// follow feeds the store with a list and then with watches. It returns true if the store has rejected a list, so that
// the caller lists again.
func (r *Reflector) follow(ctx context.Context) (retry bool) {
	i := r.informer
	// lw calls StopOn with the cause of every interruption, so the function can also report the cause.
	opts := &lw.Options{StopOn: i.interrupted, Warn: i.warn, Random: i.extras.Random}
	// list contains the objects of the list in progress, or is nil during a watch. It is a map by key, because a streaming
	// list may change or delete an object that it has already delivered.
	var list cache.Store
	held := lw.Held{ResourceVersion: r.LastSyncResourceVersion()} // as in client-go, the list must not be older than the store
	i.client.relist = held.ResourceVersion != ""
	for event := range lw.Resume(ctx, i.client, held, opts) {
		switch event.Type {
		case lw.ListStarted:
			list = cache.NewStore(cache.MetaNamespaceKeyFunc)
		case lw.Synced:
			if !r.check(ctx, r.store.Replace(list.List(), event.ResourceVersion), "replace the objects of the store") {
				return true
			}
			list = nil
		case lw.Added, lw.Modified, lw.Deleted:
			if list != nil {
				r.apply(ctx, list, &event)
			} else {
				r.apply(ctx, r.store, &event)
			}
		case lw.Bookmark:
			if store, ok := r.store.(cache.ReflectorBookmarkStore); ok {
				r.check(ctx, store.Bookmark(event.ResourceVersion), "pass a bookmark to the store")
			}
		case lw.DecodeFailed: // apply reports an object whose encoding is valid, but does not fit the Go type
			utilruntime.HandleErrorWithContext(ctx, event.Err, "cannot decode an object", i.about()...)
		}
		if version := event.ResourceVersion; list == nil && version != "" && version != r.LastSyncResourceVersion() {
			r.version.Store(version)
			if store, ok := r.store.(cache.ResourceVersionUpdater); ok && event.Type != lw.Synced { // Replace has already received the list's version
				store.UpdateResourceVersion(version)
			}
		}
	}
	return false
}

// apply decodes the object of an event and passes it to a store: the caller's store or, during a list, the store for
// the list in progress. If decoding fails, apply reports the error and skips the event.
func (r *Reflector) apply(ctx context.Context, to cache.ReflectorStore, event *lw.Event[*object]) {
	made, err := r.informer.decoder.decode(event.Object.encoded)
	if err != nil {
		r.informer.report(event.Object, err)
		return
	}
	change := to.Add
	switch event.Type {
	case lw.Modified:
		change = to.Update
	case lw.Deleted:
		change = to.Delete
	}
	r.check(ctx, change(made), "pass an object to the store")
}

// check reports an error that the store has returned. It returns false if err is not nil.
func (r *Reflector) check(ctx context.Context, err error, action string) bool {
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "cannot "+action, r.informer.about()...)
	}
	return err == nil
}
