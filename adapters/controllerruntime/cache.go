package controllerruntime

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
)

// Options contains settings for the informers of a cache. [clientgo.Extras] documents the fields. Pass the method
// NewCache to the manager:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.Options{DropManagedFields: true}.NewCache})
type Options clientgo.Extras

// NewCache returns controller-runtime's cache with informers of listwatch. It is a [cache.NewCacheFunc]:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// If opts.NewInformer is set, the cache uses this function to create its informers instead.
func NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	return Options{}.NewCache(config, opts)
}

// NewCache is like the function [NewCache], but its informers have the settings of o.
func (o Options) NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	if opts.NewInformer != nil {
		return cache.New(config, opts)
	}
	if opts.HTTPClient == nil {
		named := rest.CopyConfig(config)
		if named.UserAgent == "" {
			named.UserAgent = rest.DefaultKubernetesUserAgent()
		}
		client, err := rest.HTTPClientFor(named)
		if err != nil {
			return nil, fmt.Errorf("could not create HTTP client from config: %w", err)
		}
		opts.HTTPClient = client
	}
	opts.HTTPClient = clientgo.WrapHTTPClient(opts.HTTPClient)
	opts.NewInformer = o.newInformer
	// The list requests of controller-runtime are only recorded, so rate limits would only delay the informers. Without
	// opts.Mapper, the discovery of resources has no rate limits, either. It sends few requests.
	unlimited := rest.CopyConfig(config)
	unlimited.QPS, unlimited.RateLimiter = -1, nil
	return cache.New(unlimited, opts)
}

func (o Options) newInformer(lister toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return clientgo.NewSharedIndexInformerWithOptions(lister, example, clientgo.InformerOptions{
		ResyncPeriod: resync, Indexers: indexers, Extras: clientgo.Extras(o),
	})
}
