package clientgo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// FactoryOptions contains the settings of an informer factory. The zero value selects all namespaces.
type FactoryOptions struct {
	// Namespace restricts the informers to one namespace. Typed informers of cluster-scoped resources ignore it.
	Namespace string
	// TweakListOptions modifies the list options of each informer, for example to set selectors.
	TweakListOptions func(*metav1.ListOptions)
	Extras
}

// collections creates the informers of a factory.
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
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("clientgo: cannot create an HTTP client for the rest.Config: %w", err)
	}
	client = WrapHTTPClient(client)
	// Requests of this client are only recorded, so its rate limits would only delay the start of informers.
	unlimited := rest.CopyConfig(config)
	unlimited.QPS, unlimited.RateLimiter = -1, nil
	dynamicClient, err := dynamic.NewForConfigAndClient(unlimited, client)
	if err != nil {
		return nil, fmt.Errorf("clientgo: cannot create a client for the rest.Config: %w", err)
	}
	return &collections{config: config, http: client, dynamic: dynamicClient, resync: resync, opts: *opts}, nil
}

// informer returns an informer for the objects of a resource in a namespace. example has the Go type of these objects.
func (c *collections) informer(gvr schema.GroupVersionResource, namespace string, example runtime.Object, resync time.Duration) cache.SharedIndexInformer {
	target := c.dynamic.Resource(gvr).Namespace(namespace)
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if c.opts.TweakListOptions != nil {
				c.opts.TweakListOptions(&options)
			}
			return target.List(ctx, options)
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, errNoWatch },
	}
	accept := cmp.Or(c.config.AcceptContentTypes, c.config.ContentType) // client-go uses the same precedence
	from := &source{lister: cache.ToListerWatcherWithContext(lister), accept: &accept}
	return newInformer(from, lister, example, InformerOptions{
		ResyncPeriod: resync,
		Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		Extras:       c.opts.Extras,
	})
}
