package clientgo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// InformerOptions contains the settings of an informer. The zero value is valid.
type InformerOptions struct {
	ResyncPeriod time.Duration // default resync period of handlers; zero disables resyncs
	Indexers     cache.Indexers

	// ObjectDescription is the name of the objects' type in log messages. If it is "", the log names the Go type.
	ObjectDescription string

	// CopyingReaders is for readers that copy each object, such as controller-runtime's cache. The indexer from
	// GetIndexer then returns objects whose only useful method is DeepCopyObject. The method decodes a new struct, so
	// the informer need not keep a decoded object. GetStore and handlers are not affected.
	CopyingReaders bool

	// Identifier enables the metric for the store's resourceVersion, as in [cache.SharedIndexInformerOptions]. There
	// are no queue metrics, because the store applies each event when it arrives, without a queue.
	Identifier cache.InformerNameAndResource
	// InformerMetricsProvider provides the metric. nil means the provider set with
	// [cache.SetInformerMetricsProvider].
	InformerMetricsProvider cache.InformerMetricsProvider

	Extras
}

// NewSharedIndexInformer has the signature of [cache.NewSharedIndexInformer]. See
// [NewSharedIndexInformerWithOptions] for the requirements on lister.
func NewSharedIndexInformer(lister cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lister, example, InformerOptions{ResyncPeriod: resync, Indexers: indexers})
}

// NewSharedIndexInformerWithOptions returns an informer for the objects that lister lists. lister must send its
// requests with an HTTP client from [WrapHTTPClient]. The informer takes the URL, the selectors and the headers
// from lister's requests, and never calls lister.Watch. Objects have the type of example, which must not be nil.
//
// The store is read-only: its methods Add, Update, Delete and Replace return an error. GetController returns a
// controller whose Run does nothing.
func NewSharedIndexInformerWithOptions(lister cache.ListerWatcher, example runtime.Object, opts InformerOptions) cache.SharedIndexInformer {
	return newInformer(&source{lister: cache.ToListerWatcherWithContext(lister)}, lister, example, opts)
}

// newInformer returns an informer that sends its requests through the transport `from`. A watch error handler receives a
// reflector that identifies the informer, and only this reflector needs the parameter lister.
func newInformer(from *source, lister cache.ListerWatcher, example runtime.Object, opts InformerOptions) *informer {
	if example == nil {
		panic("clientgo: an informer needs an example of its objects, such as &corev1.Pod{}")
	}
	i := &informer{
		source:  from,
		example: example, description: cmp.Or(opts.ObjectDescription, reflect.TypeOf(example).String()),
		decoder: newDecoder(example),
		resync:  opts.ResyncPeriod, shortestResync: opts.ResyncPeriod,
		extras: opts.Extras,
		meter:  newMeter(&opts),
		ctx:    context.Background(),
	}
	i.name = fmt.Sprintf("SharedIndexInformer %v", i.decoder.example)
	i.mutations = cache.NewCacheMutationDetector(i.decoder.example.String())
	i.decoder.share = i.mutations.AddObject
	i.codec = newCodec(&i.decoder, example, &opts.Extras, i.report)
	i.client = &client{informer: i, opts: lw.ClientOptions{MetadataOnly: i.decoder.metadataOnly(), KeepManagedFields: !opts.DropManagedFields}, source: lw.Source[*object]{StreamsLists: true}}
	i.inner = lwcache.NewInformer(i.client, &lw.Options{StopOn: i.interrupted, Warn: i.warn, Random: opts.Extras.Random})
	i.indexer = newIndexer(i)
	i.readers = &indexer{informer: i, store: i.indexer.store, copying: opts.CopyingReaders, indexSet: i.indexer.indexSet}
	_ = i.indexer.AddIndexers(opts.Indexers) // cannot fail, because no index exists yet
	i.reflector = cache.NewReflectorWithOptions(lister, example, i.indexer, cache.ReflectorOptions{Name: i.name})
	return i
}

// StateOf reports whether an informer's store is current, when that state began and, if the store is not current, why.
// Unlike HasSynced, it also reports outages that begin after the first list. The informer may come from a factory or from
// controller-runtime's cache.
//
// ok is false if this package did not create the informer, or if it comes from a controller-runtime cache that is
// limited to several namespaces.
func StateOf(shared interface{ HasSynced() bool }) (state lw.State, ok bool) {
	p, ok := ProgressOf(shared)
	if !ok {
		return lw.State{}, false
	}
	return p.State(), true
}

// informer implements [cache.SharedIndexInformer].
type informer struct {
	name        string
	example     runtime.Object
	description string // names the type of the objects in the log
	source      *source
	decoder     decoder
	codec       *objectCodec
	client      *client
	inner       *lwcache.Informer[*object]
	indexer     *indexer      // returned by GetStore
	readers     *indexer      // returned by GetIndexer
	resync      time.Duration // default resync period of handlers
	extras      Extras
	meter       cache.Store      // nil if the informer has no identifier
	cause       error            // why the informer was last interrupted; only the goroutine of Run uses cause and reported
	reported    bool             // whether client-go would call its watch error handler for cause; if so, warn does not log cause
	reflector   *cache.Reflector // never runs; the watch error handler receives it to identify the informer

	mutations cache.MutationDetector // does nothing unless the environment variable KUBE_CACHE_MUTATION_DETECTOR is true

	mu             sync.Mutex
	shortestResync time.Duration   // shortest period of the informer and of the handlers that were added before the start
	ctx            context.Context // the parameter of RunWithContext; before the call, context.Background()
	started        bool
	onError        cache.WatchErrorHandlerWithContext // called by interrupted; nil means that errors are logged
}

var errStarted = errors.New("informer has already started")

func (i *informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

func (i *informer) RunWithContext(ctx context.Context) {
	if err := i.beforeStart(func() { i.started, i.ctx = true, ctx }); err != nil {
		klog.FromContext(ctx).Info("Warning: the informer has already started", "informer", i.name)
		return
	}
	// The detector has its own context, so that it keeps checking until inner.Run has returned and no handler is being called.
	detecting, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { i.mutations.Run(detecting.Done()) })
	defer running.Wait()
	defer stop()
	ctx = i.traced(ctx)
	if c, err := i.source.resolve(ctx); err == nil && i.extras.StateDir != "" { // inner.Run resolves the source again and reports an error
		defer keepState(ctx, i, c)()
	}
	// Run ends only when ctx is done, or after an error that interrupted has reported.
	_ = i.inner.Run(ctx)
}

// traced returns ctx with the trace that Extras.Trace returns.
func (i *informer) traced(ctx context.Context) context.Context {
	if c, err := i.source.resolve(ctx); err == nil && i.extras.Trace != nil {
		return lw.WithTrace(ctx, i.extras.Trace(c.path))
	}
	return ctx
}

func (i *informer) IsStopped() bool { return i.inner.State().Phase == lw.Stopped }

func (i *informer) HasSynced() bool { return cache.IsDone(i.HasSyncedChecker()) }

func (i *informer) HasSyncedChecker() cache.DoneChecker {
	return checker{i.name, i.inner.Store().Synced()}
}

// checker implements [cache.DoneChecker].
type checker struct {
	name string
	done <-chan struct{}
}

func (c checker) Name() string          { return c.name }
func (c checker) Done() <-chan struct{} { return c.done }

func (i *informer) LastSyncResourceVersion() string { return i.inner.Store().ResourceVersion() }

func (i *informer) GetStore() cache.Store { return i.indexer }

func (i *informer) GetIndexer() cache.Indexer { return i.readers }

func (i *informer) AddIndexers(indexers cache.Indexers) error {
	if i.IsStopped() {
		return errors.New("indexer was not added because it has stopped already")
	}
	return i.indexer.AddIndexers(indexers)
}

func (i *informer) GetController() cache.Controller { return controller{i} }

// controller implements [cache.Controller]. Its Run method does nothing, because only the informer's Run starts the informer.
type controller struct{ *informer }

func (controller) Run(<-chan struct{})            {}
func (controller) RunWithContext(context.Context) {}

var _ cache.SharedIndexInformer = (*informer)(nil)

// Extras contains settings that client-go's informers lack. With the zero value, informers behave like client-go's.
type Extras struct {
	// DropManagedFields removes metadata.managedFields, which often makes up half of an object.
	DropManagedFields bool

	// CoalesceEvents merges the queued events of an object into one event. The merged event describes the change from the
	// last state that the handler received to the current state. If an object was created and deleted while the handler
	// was busy, the handler receives no event.
	CoalesceEvents bool

	// QueueCapacity limits the number of queued events per handler. Zero means no limit. While any queue is full,
	// the informer reads no events, so no handler receives new ones. A handler must therefore not wait for the
	// store to change. QueueCapacity has no effect with CoalesceEvents.
	QueueCapacity int

	// Fields returns the paths of the fields to keep, for example "metadata.labels" and "spec.nodeName". example has
	// the type of the informer's objects. All other fields are left empty. If Fields returns no paths, the informer
	// keeps all fields. Otherwise, the informer requests JSON. [lw.Project] documents the syntax. A malformed path
	// causes a panic when the informer is created.
	Fields func(example runtime.Object) []string

	// Compress stores objects compressed and requests JSON. Each event and each read takes more CPU time; see
	// package compact. It has no effect on informers with a transform.
	Compress bool

	// StateDir is a folder in which each informer saves its objects when it stops. It also saves them every minute if
	// they have changed. The next informer for the same collection and type resumes from the saved objects without a
	// list. HasSynced returns true once the server has confirmed the saved objects. Until then, [StateOf] reports
	// [lw.Stale].
	//
	// Use a separate folder for each cluster, each program and each transform. Several processes of the same
	// program may share a folder. Delete the folder when a transform changes. A transform must accept its own results,
	// because it runs again when the objects are restored. The saved objects may contain Secrets.
	StateDir string

	// Random returns numbers in [0, 1) for the jitter of delays and timeouts. A test can use a seeded source to make
	// the delays repeatable; see [lw.Options.Random]. All informers share it, so it must be safe for concurrent use if
	// there are several.
	Random func() float64

	// Trace returns the trace for an informer, or nil. collection is the collection's URL path, for example
	// "/api/v1/pods". The informer calls Trace when it starts.
	Trace func(collection string) *lw.Trace
}

// policy returns the queue policy for handlers. The default is Unbounded, because client-go's handlers have unlimited
// queues.
func (e *Extras) policy() lwcache.Policy {
	switch {
	case e.CoalesceEvents:
		return lwcache.Coalesce
	case e.QueueCapacity > 0:
		return lwcache.Block
	}
	return lwcache.Unbounded
}

func (i *informer) SetTransform(transform cache.TransformFunc) error {
	return i.beforeStart(func() { i.codec.transform = transform })
}

func (i *informer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext implements [cache.SharedInformer]. Without a handler, the informer logs errors.
func (i *informer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	return i.beforeStart(func() { i.onError = handler })
}

// beforeStart calls set under the lock, so that the informer cannot start in the meantime. If the informer has already
// started, it returns errStarted instead.
func (i *informer) beforeStart(set func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	set()
	return nil
}

// running returns the informer's context and the watch error handler, which may be nil.
func (i *informer) running() (context.Context, cache.WatchErrorHandlerWithContext) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ctx, i.onError
}

// registration implements [cache.ResourceEventHandlerRegistration].
type registration struct {
	*lwcache.Registration[*object]
	informer *informer
	name     string
}

func (r *registration) HasSynced() bool { return cache.IsDone(r.HasSyncedChecker()) }

func (r *registration) HasSyncedChecker() cache.DoneChecker {
	return checker{r.name, r.Synced()}
}

// ShutdownChan returns a channel that is closed when the handler has stopped. [cache.ShutDownEventHandler] waits for
// this channel.
func (r *registration) ShutdownChan() <-chan struct{} { return r.Done() }

// minimumResync is client-go's minimum resync period.
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
	resync := i.resyncPeriod(&options)
	inner := i.inner.Handle(i.adapt(handler), &lwcache.HandlerOptions[*object]{
		Policy: i.extras.policy(), Capacity: i.extras.QueueCapacity, Resync: resync, OnPanic: i.panicked,
	})
	// Only client-go can choose a handler's name, and it does so when the handler is added to an informer. Therefore
	// the handler is also added to a client-go informer that never runs.
	named, err := cache.NewSharedIndexInformer(nil, i.example, 0, nil).AddEventHandler(handler)
	if err != nil {
		return nil, err
	}
	return &registration{Registration: inner, informer: i, name: named.HasSyncedChecker().Name()}, nil
}

// resyncPeriod returns the resync period for a new handler. As in client-go, a handler has no resyncs if the informer
// has none. A handler that is added after the start cannot have a shorter period than the other handlers.
func (i *informer) resyncPeriod(options *cache.HandlerOptions) time.Duration {
	logger, want := ptr.Deref(options.Logger, klog.Background()), ptr.Deref(options.ResyncPeriod, i.resync)
	i.mu.Lock()
	defer i.mu.Unlock()
	if want <= 0 {
		return 0
	}
	period := max(want, minimumResync)
	switch {
	case i.shortestResync == 0:
		period = 0
	case !i.started:
		i.shortestResync = min(i.shortestResync, period)
	default:
		period = max(period, i.shortestResync)
	}
	if period != want {
		logger.Info("Warning: the informer does not support the resync period of a handler", "informer", i.name, "resyncPeriod", want, "usedPeriod", period)
	}
	return period
}

// RemoveEventHandler implements [cache.SharedInformer]. It drops the events that are still queued for the handler.
func (i *informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration)
	if !ok {
		return fmt.Errorf("invalid key type %T", handle) // the text of client-go
	}
	if r.informer == i {
		r.Remove()
	}
	return nil
}

// panicked passes a handler's panic to client-go's crash handler. It panics again, because the crash handler calls recover.
func (i *informer) panicked(value any, _ []byte) {
	ctx, _ := i.running()
	defer utilruntime.HandleCrashWithContext(ctx)
	panic(value)
}

// adapt converts a client-go handler to one for package cache. If an object cannot be decoded, the returned handler
// reports the error and skips the event. If only the old object of a modification cannot be decoded, the handler receives
// the new object as added.
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
			if new != old { // a resync passes the same object twice
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
	value, err := i.decoder.read(o, false)
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
