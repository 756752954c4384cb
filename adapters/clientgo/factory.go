package clientgo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// NewSharedInformerFactory returns an informer factory like [informers.NewSharedInformerFactory] that creates this
// package's informers. opts may be nil. For API groups without a stable version, the factory returns client-go's informers.
// `more` configures client-go's factory, for example with a transform. This package's informers take the namespace and the
// list options only from opts.
func NewSharedInformerFactory(config *rest.Config, resync time.Duration, opts *FactoryOptions, more ...informers.SharedInformerOption) (informers.SharedInformerFactory, error) {
	c, err := newCollections(config, resync, opts)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfigAndClient(c.config, c.http)
	if err != nil {
		return nil, fmt.Errorf("clientgo: cannot create a clientset for the rest.Config: %w", err)
	}
	stock := []informers.SharedInformerOption{
		informers.WithNamespace(c.opts.Namespace), informers.WithTweakListOptions(c.opts.TweakListOptions),
	}
	return &factory{informers.NewSharedInformerFactoryWithOptions(client, resync, append(stock, more...)...), c}, nil
}

// factory is client-go's factory, but it creates this package's informers. For types that package codec does not
// know, it creates client-go's informers.
type factory struct {
	informers.SharedInformerFactory
	*collections
}

func (f *factory) InformerFor(example runtime.Object, stock internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	namespace := f.opts.Namespace
	resource, err := codec.ResourceOf(example, namespace)
	if err != nil && namespace != "" {
		namespace = "" // cluster-scoped resources have no namespaces
		resource, err = codec.ResourceOf(example, "")
	}
	if err != nil {
		return f.SharedInformerFactory.InformerFor(example, stock)
	}
	return f.SharedInformerFactory.InformerFor(example, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		gvr := identity(resource)
		return f.informer(gvr, namespace, example, resync, f.InformerName().WithResource(gvr), "")
	})
}

func (f *factory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	for _, t := range scheme.Scheme.KnownTypes(gvr.GroupVersion()) {
		example := reflect.New(t).Interface().(runtime.Object)
		if resource, err := codec.ResourceOf(example, ""); err == nil && identity(resource) == gvr {
			// Register the informer first, so that client-go's ForResource finds it by the Go type of its objects.
			f.InformerFor(example, nil) // never calls nil, because package codec knows the type
		}
	}
	return f.SharedInformerFactory.ForResource(gvr)
}

func identity(r lw.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}

// FactoryOptions contains the settings of an informer factory. The zero value selects all namespaces.
type FactoryOptions struct {
	// Namespace restricts the informers to one namespace. Typed informers of cluster-scoped resources ignore it.
	Namespace string
	// TweakListOptions modifies the list options of each informer, for example to set selectors.
	TweakListOptions func(*metav1.ListOptions)
	Extras
}

// collections creates the informers for a factory.
type collections struct {
	config  *rest.Config
	http    *http.Client
	dynamic dynamic.Interface
	resync  time.Duration
	opts    FactoryOptions
}

func newCollections(config *rest.Config, resync time.Duration, opts *FactoryOptions) (*collections, error) {
	if opts == nil {
		opts = &FactoryOptions{}
	}
	config = rest.CopyConfig(config)
	// client-go's NewForConfig functions set this default, but here the HTTP client is created without them.
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("clientgo: cannot create an HTTP client for the rest.Config: %w", err)
	}
	client = WrapHTTPClient(client)
	// The informers record a request of the dynamic client instead of sending it, to learn its URL and headers; see source.
	// So a rate limit would only delay the start of informers.
	unlimited := rest.CopyConfig(config)
	unlimited.QPS, unlimited.RateLimiter = -1, nil
	dynamicClient, err := dynamic.NewForConfigAndClient(unlimited, client)
	if err != nil {
		return nil, fmt.Errorf("clientgo: cannot create a client for the rest.Config: %w", err)
	}
	return &collections{config: config, http: client, dynamic: dynamicClient, resync: resync, opts: *opts}, nil
}

// informer returns an informer for a resource in a namespace. example has the Go type of its objects.
func (c *collections) informer(gvr schema.GroupVersionResource, namespace string, example runtime.Object, resync time.Duration, identifier cache.InformerNameAndResource, description string) cache.SharedIndexInformer {
	target := c.dynamic.Resource(gvr).Namespace(namespace)
	lister := &cache.ListWatch{ // without a watch function, because this package's informers never call it
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if c.opts.TweakListOptions != nil {
				c.opts.TweakListOptions(&options)
			}
			return target.List(ctx, options)
		},
	}
	// The dynamic client always requests JSON. So the config decides whether the informer may request protobuf, with the
	// same precedence as in client-go.
	accept := cmp.Or(c.config.AcceptContentTypes, c.config.ContentType)
	from := &source{lister: cache.ToListerWatcherWithContext(lister), accept: &accept}
	return newInformer(from, lister, example, InformerOptions{
		ResyncPeriod:      resync,
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		Identifier:        identifier,
		ObjectDescription: description,
		Extras:            c.opts.Extras,
	})
}

// NewDynamicSharedInformerFactory replaces [dynamicinformer.NewDynamicSharedInformerFactory]. opts may be nil.
func NewDynamicSharedInformerFactory(config *rest.Config, resync time.Duration, opts *FactoryOptions) (dynamicinformer.DynamicSharedInformerFactory, error) {
	return newResources(config, resync, opts, &unstructured.Unstructured{}, func(indexer cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
		return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(indexer, gvr))
	})
}

// NewMetadataSharedInformerFactory replaces [metadatainformer.NewSharedInformerFactory]. opts may be nil.
func NewMetadataSharedInformerFactory(config *rest.Config, resync time.Duration, opts *FactoryOptions) (metadatainformer.SharedInformerFactory, error) {
	return newResources(config, resync, opts, &metav1.PartialObjectMetadata{}, func(indexer cache.Indexer, gvr schema.GroupVersionResource) cache.GenericLister {
		return metadatalister.NewRuntimeObjectShim(metadatalister.New(indexer, gvr))
	})
}

// listerFunc returns a lister for the objects in an indexer.
type listerFunc func(cache.Indexer, schema.GroupVersionResource) cache.GenericLister

// resources is a factory of informers whose objects all have the Go type of example. It creates at most one informer
// per resource.
type resources struct {
	*collections
	example runtime.Object
	lister  listerFunc

	mu        sync.Mutex
	informers map[schema.GroupVersionResource]*resourceInformer
	started   map[schema.GroupVersionResource]cache.SharedIndexInformer
	stopping  bool           // Shutdown has been called
	running   sync.WaitGroup // counts the running informers
}

// newResources returns an interface instead of a *resources, so that callers do not get a typed nil after an error.
func newResources(config *rest.Config, resync time.Duration, opts *FactoryOptions, example runtime.Object, lister listerFunc) (dynamicinformer.DynamicSharedInformerFactory, error) {
	c, err := newCollections(config, resync, opts)
	if err != nil {
		return nil, err
	}
	return &resources{
		collections: c, example: example, lister: lister,
		informers: map[schema.GroupVersionResource]*resourceInformer{}, started: map[schema.GroupVersionResource]cache.SharedIndexInformer{},
	}, nil
}

// resourceInformer implements [informers.GenericInformer].
type resourceInformer struct {
	informer cache.SharedIndexInformer
	lister   cache.GenericLister
}

func (i *resourceInformer) Informer() cache.SharedIndexInformer { return i.informer }
func (i *resourceInformer) Lister() cache.GenericLister         { return i.lister }

// ForResource returns the informer for gvr, creating it on first use.
func (r *resources) ForResource(gvr schema.GroupVersionResource) informers.GenericInformer {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := r.informers[gvr]
	if made == nil {
		informer := r.informer(gvr, r.opts.Namespace, r.example, r.resync, cache.InformerNameAndResource{}, gvr.String())
		made = &resourceInformer{informer: informer, lister: r.lister(informer.GetIndexer(), gvr)}
		r.informers[gvr] = made
	}
	return made
}

// Start starts all informers that are not yet running. They run until stop is closed.
func (r *resources) Start(stop <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for gvr, made := range r.informers {
		if r.started[gvr] == nil && !r.stopping {
			r.started[gvr] = made.informer
			r.running.Go(func() { made.informer.Run(stop) })
		}
	}
}

// WaitForCacheSync blocks until all started informers have synced or stop is closed. The result contains, for each
// started informer, whether it has synced.
func (r *resources) WaitForCacheSync(stop <-chan struct{}) map[schema.GroupVersionResource]bool {
	r.mu.Lock()
	started := maps.Clone(r.started)
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

// group returns the arguments for client-go's constructor of an API group. Because it passes f as the factory, the groups
// use this package's informers.
func (f *factory) group() (internalinterfaces.SharedInformerFactory, string, internalinterfaces.TweakListOptionsFunc) {
	return f, f.opts.Namespace, f.opts.TweakListOptions
}

// The following methods replace those of client-go's factory. Groups without a stable version have no method here.

func (f *factory) Admissionregistration() admissionregistration.Interface {
	return admissionregistration.New(f.group())
}

func (f *factory) Apps() apps.Interface                 { return apps.New(f.group()) }
func (f *factory) Autoscaling() autoscaling.Interface   { return autoscaling.New(f.group()) }
func (f *factory) Batch() batch.Interface               { return batch.New(f.group()) }
func (f *factory) Certificates() certificates.Interface { return certificates.New(f.group()) }
func (f *factory) Coordination() coordination.Interface { return coordination.New(f.group()) }
func (f *factory) Core() core.Interface                 { return core.New(f.group()) }
func (f *factory) Discovery() discovery.Interface       { return discovery.New(f.group()) }
func (f *factory) Events() events.Interface             { return events.New(f.group()) }
func (f *factory) Flowcontrol() flowcontrol.Interface   { return flowcontrol.New(f.group()) }
func (f *factory) Networking() networking.Interface     { return networking.New(f.group()) }
func (f *factory) Node() node.Interface                 { return node.New(f.group()) }
func (f *factory) Policy() policy.Interface             { return policy.New(f.group()) }
func (f *factory) Rbac() rbac.Interface                 { return rbac.New(f.group()) }
func (f *factory) Resource() resource.Interface         { return resource.New(f.group()) }
func (f *factory) Scheduling() scheduling.Interface     { return scheduling.New(f.group()) }
func (f *factory) Storage() storage.Interface           { return storage.New(f.group()) }

func (f *factory) Storagemigration() storagemigration.Interface {
	return storagemigration.New(f.group())
}
