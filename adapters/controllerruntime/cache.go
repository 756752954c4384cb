package controllerruntime

import (
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
)

// NewCache returns controller-runtime's cache with informers of listwatch. It is a [cache.NewCacheFunc]:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// If opts.NewInformer is set, it stays in use.
func NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
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
	opts.NewInformer = clientgo.NewSharedIndexInformer
	return cache.New(config, opts)
}
