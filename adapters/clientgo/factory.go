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

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
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

// factory is client-go's factory with informers of this package. For types that package builtin does not list, it
// creates client-go's informers.
type factory struct {
	informers.SharedInformerFactory
	collections *collections
}

func (f *factory) InformerFor(example runtime.Object, stock internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	known := builtinOf(example)
	if known == nil {
		return f.SharedInformerFactory.InformerFor(example, stock)
	}
	namespace := f.collections.opts.Namespace
	if !known.Namespaced {
		namespace = ""
	}
	return f.SharedInformerFactory.InformerFor(example, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return f.collections.informer(resourceOf(known), namespace, example, resync)
	})
}

func (f *factory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	for n := range builtin.Resources {
		known := &builtin.Resources[n]
		if resourceOf(known) != gvr {
			continue
		}
		example, err := scheme.Scheme.New(gvr.GroupVersion().WithKind(known.Kind))
		if err != nil {
			return nil, err
		}
		f.InformerFor(example, nil) // registers the informer, so that client-go's ForResource finds it by its type
	}
	return f.SharedInformerFactory.ForResource(gvr)
}

// builtinOf returns the built-in resource with the Go type of example, or nil if there is none.
func builtinOf(example runtime.Object) *builtin.Resource {
	t := reflect.TypeOf(example).Elem()
	for n := range builtin.Resources {
		if known := &builtin.Resources[n]; known.Kind == t.Name() && known.Package == t.PkgPath() {
			return known
		}
	}
	return nil
}

func resourceOf(known *builtin.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: known.Group, Version: known.Version, Resource: known.Plural}
}
