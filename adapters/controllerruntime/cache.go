package controllerruntime

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
)

// Options contains settings for a cache's informers. [clientgo.Extras] documents the fields. Pass the method
// NewCache to the manager:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.Options{DropManagedFields: true}.NewCache})
type Options clientgo.Extras

// NewCache returns controller-runtime's cache, but with listwatch's informers. It is a [cache.NewCacheFunc]:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// If opts.NewInformer is set, the cache creates its informers with that function instead.
func NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	return Options{}.NewCache(config, opts)
}

// NewCache is like the function [NewCache], but applies the settings in o to its informers.
func (o Options) NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	if opts.NewInformer != nil {
		return cache.New(config, opts)
	}
	if opts.HTTPClient == nil {
		named := rest.CopyConfig(config)
		// controller-runtime sets the same User-Agent, but only for an HTTP client that it creates itself.
		named.UserAgent = cmp.Or(named.UserAgent, rest.DefaultKubernetesUserAgent())
		var err error
		if opts.HTTPClient, err = rest.HTTPClientFor(named); err != nil {
			return nil, fmt.Errorf("could not create HTTP client from config: %w", err)
		}
	}
	if opts.Scheme == nil {
		opts.Scheme = scheme.Scheme // controller-runtime's default
	}
	shared, made := sharedKinds(opts), &decodingCache{scheme: opts.Scheme, http: opts.HTTPClient, restores: o.StateDir != ""}
	lists := *opts.HTTPClient
	lists.Transport = &firstLists{next: cmp.Or(lists.Transport, http.DefaultTransport), completed: &made.followers.completed}
	opts.HTTPClient = clientgo.WrapHTTPClient(&lists)
	opts.NewInformer = func(lister toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		kind, err := apiutil.GVKForObject(example, opts.Scheme)
		informer := clientgo.NewSharedIndexInformerWithOptions(lister, example, clientgo.InformerOptions{
			ResyncPeriod: resync, Indexers: indexers, CopyingReaders: err == nil && !shared(kind), Extras: clientgo.Extras(o),
		})
		made.followers.add(kind, formOf(example), informer)
		return informer
	}
	// Package clientgo records controller-runtime's list requests instead of sending them, so a rate limit would only
	// delay the informers. Without opts.Mapper, resource discovery also loses its rate limit, but it sends few requests.
	unlimited := rest.CopyConfig(config)
	unlimited.QPS, unlimited.RateLimiter = -1, nil
	stock, err := cache.New(unlimited, opts)
	if err != nil {
		return nil, err
	}
	made.Cache = stock
	return made, nil
}

// firstLists is an [http.RoundTripper] for the requests of informers. The first list of an informer accepts any
// resourceVersion, so the server may return a state that is older than a client's write. If a client has completed a
// write, firstLists therefore requests the latest state. The server may return it in pages, and the informer then
// requests pages from its later lists, too.
type firstLists struct {
	next      http.RoundTripper
	completed *atomic.Uint64 // followers.completed
}

func (l *firstLists) RoundTrip(request *http.Request) (*http.Response, error) {
	if query := request.URL.Query(); query.Get("resourceVersion") == "0" && l.completed.Load() > 0 {
		query.Del("resourceVersion")
		request = request.Clone(request.Context())
		request.URL.RawQuery = query.Encode()
	}
	return l.next.RoundTrip(request)
}

// sharedKinds returns a function that reports whether readers of a kind may share structs. They may if the options
// disable deep copies for all or some objects of this kind.
func sharedKinds(opts cache.Options) func(schema.GroupVersionKind) bool {
	shares := func(all *bool, namespaces map[string]cache.Config) bool {
		for _, namespace := range namespaces {
			if set(namespace.UnsafeDisableDeepCopy) {
				return true
			}
		}
		return set(all)
	}
	kinds := map[schema.GroupVersionKind]bool{}
	for object, by := range opts.ByObject {
		if kind, err := apiutil.GVKForObject(object, opts.Scheme); err == nil {
			kinds[kind] = kinds[kind] || shares(by.UnsafeDisableDeepCopy, by.Namespaces)
		}
	}
	all := shares(opts.DefaultUnsafeDisableDeepCopy, opts.DefaultNamespaces)
	return func(kind schema.GroupVersionKind) bool { return all || kinds[kind] }
}

// decodingCache is controller-runtime's cache with this module's informers. Unless the options disable deep copies of a
// kind, its objects are decoded only when controller-runtime copies them.
type decodingCache struct {
	cache.Cache
	followers followers // read by the clients of ReadYourWrites
	scheme    *runtime.Scheme
	http      *http.Client // default of the clients of ReadYourWrites
	restores  bool         // the informers may start with objects that an earlier process saved
}

// NeedLeaderElection implements manager.LeaderElectionRunnable, as controller-runtime's cache does.
func (c *decodingCache) NeedLeaderElection() bool { return false }

// RemoveInformer implements [cache.Informers]. Reads wait for writes until the informer has been removed.
func (c *decodingCache) RemoveInformer(ctx context.Context, obj client.Object) error {
	kind, _ := apiutil.GVKForObject(obj, c.scheme) // the call below reports the error
	removed := c.followers.find(func(f *follower) bool { return f.kind == kind && f.form == formOf(obj) })
	if err := c.Cache.RemoveInformer(ctx, obj); err != nil {
		return err
	}
	c.followers.remove(removed) // keeps the follower of an informer that another call has created in the meantime
	return nil
}

// Get implements [client.Reader]. If an option disables the deep copy, Get does not pass the option on, because the
// object is decoded only when it is copied. Instead, Get asks the informer for a copy that shares nested values with
// other readers.
func (c *decodingCache) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	all := (&client.GetOptions{}).ApplyOptions(opts)
	opts = append(opts[:len(opts):len(opts)], client.UnsafeDisableDeepCopyOption(false))
	if set(all.UnsafeDisableDeepCopy) {
		shared := client.ObjectKey{Namespace: key.Namespace, Name: clientgo.SharedName(key.Name)}
		if err := c.Cache.Get(ctx, shared, out, opts...); err == nil {
			return nil
		}
		// The error contains the shared name, so the code below reads again, with the name that the caller knows.
	}
	return again(func() error { return c.Cache.Get(ctx, key, out, opts...) })
}

// List implements [client.Reader]. If a label must have a certain value, List selects the objects with an index instead
// of comparing the labels of all objects. If opts disable deep copies and have no field selector, the objects share
// nested values with other readers, as in Get.
func (c *decodingCache) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	all := (&client.ListOptions{}).ApplyOptions(opts)
	opts = append(opts[:len(opts):len(opts)], client.UnsafeDisableDeepCopyOption(false))
	key, value, labeled := requiredLabel(all.LabelSelector) // without one, the empty key and value select all objects
	switch {
	case all.FieldSelector != nil: // MatchingFields would replace the caller's field selector
	case set(all.UnsafeDisableDeepCopy):
		opts = append(opts, client.MatchingFields{clientgo.SharedField(key): value})
	case labeled:
		opts = append(opts, client.MatchingFields{clientgo.LabelField(key): value})
	}
	return again(func() error { return c.Cache.List(ctx, out, opts...) })
}

func set(option *bool) bool { return option != nil && *option }

// requiredLabel returns the key and the value of a label that every selected object must have.
func requiredLabel(selector labels.Selector) (key, value string, ok bool) {
	if selector == nil {
		return "", "", false
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if value, ok := selector.RequiresExactMatch(r.Key()); ok {
			return r.Key(), value, true
		}
	}
	return "", "", false
}

// again repeats a read while it finds undecodable objects, because controller-runtime's error names only the Go type
// clientgo.undecodable. After each round, the informer knows one more object that cannot be decoded. A Get then returns
// the decode error, and a List omits the object.
func again(read func() error) error {
	for {
		if err := read(); err == nil || !foundUndecodable.MatchString(err.Error()) {
			return err
		}
	}
}

// foundUndecodable matches the errors of controller-runtime's Get and List. It must not match errors that quote a
// caller's input or an object, because again would then repeat the read forever.
var foundUndecodable = regexp.MustCompile(`^(cache had type \*|item\[\d+\]: can't assign or convert )clientgo\.undecodable\b`)
