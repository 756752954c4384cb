package clientgo

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

// errNoWatch is returned by watch functions that informers of this package never call.
var errNoWatch = errors.New("clientgo: the ListerWatcher cannot watch; the engine watches instead")

// NewSharedInformerFactory returns an informer factory like [informers.NewSharedInformerFactory], but with informers of
// this package. opts may be nil. For types of alpha and beta APIs, the factory returns client-go's informers.
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

// factory is client-go's factory with informers of this package. For types that package codec does not know, it creates
// client-go's informers.
type factory struct {
	informers.SharedInformerFactory
	collections *collections
}

func (f *factory) InformerFor(example runtime.Object, stock internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	namespace := f.collections.opts.Namespace
	resource, err := codec.ResourceOfType(reflect.TypeOf(example), namespace)
	if err != nil && namespace != "" {
		namespace = "" // cluster-scoped resources have no namespaces
		resource, err = codec.ResourceOfType(reflect.TypeOf(example), "")
	}
	if err != nil {
		return f.SharedInformerFactory.InformerFor(example, stock)
	}
	return f.SharedInformerFactory.InformerFor(example, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return f.collections.informer(identity(resource), namespace, example, resync)
	})
}

func (f *factory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	for _, t := range scheme.Scheme.KnownTypes(gvr.GroupVersion()) {
		if resource, err := codec.ResourceOfType(reflect.PointerTo(t), ""); err == nil && identity(resource) == gvr {
			// The informer must be registered first, so that client-go's ForResource finds it by its type.
			f.InformerFor(reflect.New(t).Interface().(runtime.Object), nil)
		}
	}
	return f.SharedInformerFactory.ForResource(gvr)
}

func identity(r lw.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}
