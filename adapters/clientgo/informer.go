package clientgo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// InformerOptions contains the settings of an informer. The zero value is valid.
type InformerOptions struct {
	ResyncPeriod time.Duration // default resync period of handlers; zero disables resyncs
	Indexers     cache.Indexers
	Extras
}

// NewSharedIndexInformer has the signature of [cache.NewSharedIndexInformer]. See [NewSharedIndexInformerWithOptions]
// for the requirements on lister.
func NewSharedIndexInformer(lister cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lister, example, InformerOptions{ResyncPeriod: resync, Indexers: indexers})
}

// NewSharedIndexInformerWithOptions returns an informer for the objects that lister lists. lister must send its
// requests with an HTTP client from [WrapHTTPClient]. The informer takes the URL, the selectors and the headers from
// requests of lister, and never calls lister.Watch. Objects have the type of example, which must not be nil.
//
// The store is read-only: its methods Add, Update, Delete and Replace return an error. GetController returns a
// controller whose Run does nothing.
func NewSharedIndexInformerWithOptions(lister cache.ListerWatcher, example runtime.Object, opts InformerOptions) cache.SharedIndexInformer {
	return newInformer(&source{lister: cache.ToListerWatcherWithContext(lister)}, lister, example, opts)
}

func newInformer(from *source, lister cache.ListerWatcher, example runtime.Object, opts InformerOptions) *informer {
	if example == nil {
		panic("clientgo: an informer needs an example of its objects, such as &corev1.Pod{}")
	}
	i := &informer{
		source:  from,
		decoder: newDecoder(example),
		resync:  opts.ResyncPeriod,
		extras:  opts.Extras,
	}
	i.name = fmt.Sprintf("SharedIndexInformer %v", i.decoder.example)
	i.codec = newCodec(&i.decoder, example, &opts.Extras, i.report)
	source := &client{informer: i, opts: lw.ClientOptions{MetadataOnly: i.decoder.metadataOnly(), KeepManagedFields: !opts.DropManagedFields}, source: lw.Source[*object]{StreamsLists: true}}
	i.inner = lwcache.NewInformer(source, &lw.Options{StopOn: i.interrupted, Logger: (*logger)(i), Random: opts.Extras.Random})
	i.indexer = newIndexer(i)
	if err := i.indexer.AddIndexers(opts.Indexers); err != nil {
		panic(err) // cannot happen, because this is the first call of AddIndexers
	}
	i.reflector = cache.NewReflectorWithOptions(lister, example, i.indexer, cache.ReflectorOptions{Name: i.name})
	return i
}

// StateOf reports whether the store of an informer is current, since when, and why not. Unlike HasSynced, it also reports
// an outage that begins after the first list. The informer may come from a factory or from controller-runtime's cache.
//
// ok is false if this package did not create the informer. This includes the informers of a controller-runtime cache
// with several namespaces.
func StateOf(shared interface{ HasSynced() bool }) (state lw.State, ok bool) {
	i, ok := shared.(*informer)
	if !ok {
		return lw.State{}, false
	}
	return i.inner.State(), true
}

// informer implements [cache.SharedIndexInformer].
type informer struct {
	name      string
	source    *source
	decoder   decoder
	codec     *objectCodec
	inner     *lwcache.Informer[*object]
	indexer   *indexer
	resync    time.Duration
	extras    Extras
	reflector *cache.Reflector // never runs; only identifies the informer to the watch error handler

	mu               sync.Mutex
	ctx              context.Context // context that was passed to RunWithContext
	started, stopped bool
	onError          cache.WatchErrorHandlerWithContext
}

var errStarted = errors.New("informer has already started")

func (i *informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

func (i *informer) RunWithContext(ctx context.Context) {
	i.mu.Lock()
	again := i.started
	if !again {
		i.started, i.ctx = true, ctx
	}
	i.mu.Unlock()
	if again {
		klog.FromContext(ctx).Info("Warning: the informer has already started", "informer", i.name)
		return
	}
	i.follow(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
}

// follow runs the inner informer with the trace and the state directory from Extras.
func (i *informer) follow(ctx context.Context) {
	if c, err := i.source.resolve(ctx); err == nil { // after an error, inner.Run resolves the source again and reports the error
		if i.extras.Trace != nil {
			if trace := i.extras.Trace(c.path); trace != nil {
				ctx = lw.WithTrace(ctx, trace)
			}
		}
		if i.extras.StateDir != "" {
			defer newState(i, c).keep(ctx)()
		}
	}
	// Run ends only when ctx is done, because interrupted always returns false.
	_ = i.inner.Run(ctx)
}

func (i *informer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

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

func (i *informer) GetIndexer() cache.Indexer { return i.indexer }

func (i *informer) AddIndexers(indexers cache.Indexers) error {
	if i.IsStopped() {
		return errors.New("indexer was not added because it has stopped already")
	}
	return i.indexer.AddIndexers(indexers)
}

func (i *informer) GetController() cache.Controller { return controller{i} }

// controller implements [cache.Controller]. Its Run method does nothing.
type controller struct{ *informer }

func (controller) Run(<-chan struct{})            {}
func (controller) RunWithContext(context.Context) {}

var _ cache.SharedIndexInformer = (*informer)(nil)
