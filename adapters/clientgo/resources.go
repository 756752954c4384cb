package clientgo

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// NewDynamicSharedInformerFactory replaces [dynamicinformer.NewDynamicSharedInformerFactory]. opts may be nil.
func NewDynamicSharedInformerFactory(config *rest.Config, resync time.Duration, opts *FactoryOptions) (dynamicinformer.DynamicSharedInformerFactory, error) {
	c, err := newCollections(config, resync, opts)
	if err != nil {
		return nil, err
	}
	return newResources(c, &unstructured.Unstructured{}, func(indexer cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
		return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(indexer, gvr))
	}), nil
}

// NewMetadataSharedInformerFactory replaces [metadatainformer.NewSharedInformerFactory]. opts may be nil.
func NewMetadataSharedInformerFactory(config *rest.Config, resync time.Duration, opts *FactoryOptions) (metadatainformer.SharedInformerFactory, error) {
	c, err := newCollections(config, resync, opts)
	if err != nil {
		return nil, err
	}
	return newResources(c, &metav1.PartialObjectMetadata{}, func(indexer cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
		return metadatalister.NewRuntimeObjectShim(metadatalister.New(indexer, gvr))
	}), nil
}

// listerFunc returns a lister for the objects in an indexer.
type listerFunc func(cache.Indexer, schema.GroupVersionResource) cache.GenericLister

// resources is an informer factory whose objects all have the Go type of example. It creates at most one informer per
// resource.
type resources struct {
	collections *collections
	example     runtime.Object
	lister      listerFunc

	mu        sync.Mutex
	informers map[schema.GroupVersionResource]*resourceInformer
	stopping  bool
	running   sync.WaitGroup
}

func newResources(c *collections, example runtime.Object, lister listerFunc) *resources {
	return &resources{collections: c, example: example, lister: lister, informers: map[schema.GroupVersionResource]*resourceInformer{}}
}

// resourceInformer implements [informers.GenericInformer].
type resourceInformer struct {
	informer cache.SharedIndexInformer
	lister   cache.GenericLister
	started  bool
}

func (i *resourceInformer) Informer() cache.SharedIndexInformer { return i.informer }
func (i *resourceInformer) Lister() cache.GenericLister         { return i.lister }

// ForResource returns the informer of a resource. The first call creates the informer.
func (r *resources) ForResource(gvr schema.GroupVersionResource) informers.GenericInformer {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := r.informers[gvr]
	if made == nil {
		informer := r.collections.informer(gvr, r.collections.opts.Namespace, r.example, r.collections.resync)
		made = &resourceInformer{informer: informer, lister: r.lister(informer.GetIndexer(), gvr)}
		r.informers[gvr] = made
	}
	return made
}

// Start starts all informers that are not yet running. They run until stop is closed.
func (r *resources) Start(stop <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, made := range r.informers {
		if !made.started && !r.stopping {
			made.started = true
			r.running.Go(func() { made.informer.Run(stop) })
		}
	}
}

// WaitForCacheSync blocks until all started informers have synced or stop is closed. It returns, for each started
// informer, whether it has synced.
func (r *resources) WaitForCacheSync(stop <-chan struct{}) map[schema.GroupVersionResource]bool {
	started := map[schema.GroupVersionResource]cache.SharedIndexInformer{}
	r.mu.Lock()
	for gvr, made := range r.informers {
		if made.started {
			started[gvr] = made.informer
		}
	}
	r.mu.Unlock()
	synced := map[schema.GroupVersionResource]bool{}
	for gvr, informer := range started {
		synced[gvr] = cache.WaitForCacheSync(stop, informer.HasSynced)
	}
	return synced
}

// Shutdown blocks until all running informers have stopped. Later calls to Start have no effect.
func (r *resources) Shutdown() {
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	r.running.Wait()
}
