package clientgo

import (
	"fmt"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
)

// registration implements [cache.ResourceEventHandlerRegistration].
type registration struct {
	*lwcache.Registration[*object]
	informer *informer
}

func (r *registration) HasSynced() bool { return cache.IsDone(r.HasSyncedChecker()) }

func (r *registration) HasSyncedChecker() cache.DoneChecker {
	return checker{r.informer.name + " handler", r.Synced()}
}

// ShutdownChan returns a channel that is closed when the handler has stopped. [cache.ShutDownEventHandler] waits for
// this channel.
func (r *registration) ShutdownChan() <-chan struct{} { return r.Done() }

// minimumResync is the minimum resync period of client-go.
const minimumResync = time.Second

func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

func (i *informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resync})
}

// AddEventHandlerWithOptions implements [cache.SharedInformer]. Even a slow handler receives every event unless
// Extras.CoalesceEvents is set.
func (i *informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if i.IsStopped() {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already", handler)
	}
	resync := i.resync
	if options.ResyncPeriod != nil {
		resync = *options.ResyncPeriod
	}
	if resync > 0 {
		resync = max(resync, minimumResync)
	}
	inner := i.inner.Handle(i.adapt(handler), &lwcache.HandlerOptions[*object]{
		Policy: i.extras.policy(), Capacity: i.extras.QueueCapacity, Resync: resync, OnPanic: i.panicked,
	})
	return &registration{Registration: inner, informer: i}, nil
}

// RemoveEventHandler implements [cache.SharedInformer]. It drops the queued events of the handler.
func (i *informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration)
	if !ok {
		return fmt.Errorf("invalid key type %T", handle)
	}
	if r.informer == i {
		r.Remove()
	}
	return nil
}

// panicked passes the panic of a handler to client-go's crash handler.
func (i *informer) panicked(value any, _ []byte) {
	ctx, _ := i.running()
	defer utilruntime.HandleCrashWithContext(ctx)
	panic(value)
}

// adapt converts a client-go handler to a handler of package cache. If an object cannot be decoded, the returned
// handler reports the error and skips the event.
func (i *informer) adapt(handler cache.ResourceEventHandler) lwcache.Handler[*object] {
	return lwcache.Handler[*object]{
		Added: func(o *object, initial bool) {
			if object := i.readOrReport(o); object != nil {
				handler.OnAdd(object, initial)
			}
		},
		Modified: func(old, new *object) {
			before := i.readOrReport(old)
			after := before
			if new != old {
				after = i.readOrReport(new)
			}
			switch {
			case after == nil:
			case before == nil:
				handler.OnAdd(after, false)
			default:
				handler.OnUpdate(before, after)
			}
		},
		Deleted: func(o *object, stale bool) {
			object := i.readOrReport(o)
			switch {
			case object == nil:
			case stale:
				handler.OnDelete(cache.DeletedFinalStateUnknown{Key: o.Key().String(), Obj: object})
			default:
				handler.OnDelete(object)
			}
		},
	}
}

// readOrReport returns the decoded object. If decoding fails, it reports the error and returns nil.
func (i *informer) readOrReport(o *object) any {
	value, err := i.decoder.read(o)
	if err != nil {
		i.report(o, err)
		return nil
	}
	return value
}

func (i *informer) report(o *object, err error) {
	ctx, _ := i.running()
	utilruntime.HandleErrorWithContext(ctx, err, "cannot decode or transform an object",
		"object", o.Key().String(), "resourceVersion", o.GetResourceVersion(), "type", i.decoder.example.String())
}
