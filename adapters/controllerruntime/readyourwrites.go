package controllerruntime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ReadYourWrites creates clients whose reads from the cache show the client's earlier writes. The zero value is valid. Pass
// the method NewClient to the manager, together with NewCache:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{
//		NewCache:  listwatch.NewCache,
//		NewClient: listwatch.ReadYourWrites{}.NewClient,
//	})
//
// A Get waits until the cache contains the completed writes to the object, and a List waits for those to the kind in its
// namespace. This includes patches, Apply, deletions and subresources. A read waits for the writes of the same client only.
// It does not wait for writes that failed or are still in progress. It never waits for dry runs, for kinds that the client
// reads from the server, for resourceVersions that are not numbers, or with [client.DisableReadYourWritesConsistency]. As an
// option of a write, it excludes the write.
//
// A read that cannot wait any longer returns a [*StaleReadError]. DeleteAllOf returns [ErrDeleteAllOf].
type ReadYourWrites struct {
	// Timeout limits how long a read waits. The default is 10 seconds. A read also ends when the watch has been healthy for
	// 5 seconds during the wait.
	Timeout time.Duration
}

// healthyTimeout limits the wait after the watch has recovered.
const healthyTimeout = 5 * time.Second

// askAfter is the time after which a read on a healthy watch asks the server whether the collection contains an object. The
// object may have left the field selector. Usually, the event of a write arrives earlier.
const askAfter = time.Second

// ErrDeleteAllOf is returned by DeleteAllOf of a client from [ReadYourWrites]. The client sends no request, because the
// response would not show which deletions later reads must wait for.
var ErrDeleteAllOf = errors.New("controllerruntime: reads cannot wait for the effect of DeleteAllOf: delete the objects of a List one by one, or use a client without ReadYourWrites")

// StaleReadError is returned by a read if the cache does not contain the client's earlier writes in time. The read can be
// repeated.
type StaleReadError struct {
	Kind  schema.GroupVersionKind
	Key   client.ObjectKey // of an object whose last write the cache does not contain
	State lw.State         // of the informer
	Err   error            // cause of the end of the caller's context, or nil after a timeout
}

func (e *StaleReadError) Error() string {
	text := fmt.Sprintf("controllerruntime: the cache does not contain the last write to %s %s yet; its watch is %v", e.Kind.Kind, e.Key, e.State.Phase)
	if e.State.Cause != nil {
		text += fmt.Sprintf(" (%v)", e.State.Cause)
	}
	if e.Err != nil {
		text += fmt.Sprintf(": %v", e.Err)
	}
	return text
}

// Unwrap returns e.Err.
func (e *StaleReadError) Unwrap() error { return e.Err }

// NewClient creates a client. It is a [client.NewClientFunc]. opts.Cache.Reader must be a cache from [NewCache] without a
// StateDir, because objects of an earlier process may be older than the client's first writes. It returns an error if
// opts.Cache.EnableReadYourWritesConsistency is set.
func (r ReadYourWrites) NewClient(config *rest.Config, opts client.Options) (client.Client, error) {
	if opts.Cache == nil || opts.Cache.Reader == nil || set(opts.DryRun) {
		return client.New(config, opts)
	}
	reads, ok := opts.Cache.Reader.(*decodingCache)
	switch {
	case !ok:
		return nil, fmt.Errorf("controllerruntime: ReadYourWrites needs a cache from NewCache, without NewInformer in its options, but the reader is a %T", opts.Cache.Reader)
	case set(opts.Cache.EnableReadYourWritesConsistency):
		return nil, errors.New("controllerruntime: ReadYourWrites replaces EnableReadYourWritesConsistency: remove one of them")
	case reads.restores:
		return nil, errors.New("controllerruntime: ReadYourWrites cannot be combined with StateDir: remove one of them")
	}
	if opts.HTTPClient == nil {
		var err error
		if opts.HTTPClient, err = newHTTPClient(config); err != nil {
			return nil, err
		}
	}
	stock, err := client.New(config, opts)
	if err != nil {
		return nil, err
	}
	c := &consistentClient{
		Client: stock, reads: reads, timeout: r.Timeout, uncached: map[schema.GroupVersionKind]bool{}, unstructured: opts.Cache.Unstructured,
		config: rest.CopyConfig(config), http: opts.HTTPClient, codecs: serializer.NewCodecFactory(stock.Scheme()), rest: map[schema.GroupVersionKind]rest.Interface{},
	}
	if c.timeout == 0 {
		c.timeout = 10 * time.Second
	}
	if config.WarningHandler == nil && config.WarningHandlerWithContext == nil {
		c.config.WarningHandlerWithContext = log.NewKubeAPIWarningLogger(log.KubeAPIWarningLoggerOptions{}) // as in client.New
	}
	for _, object := range opts.Cache.DisableFor {
		kind, err := stock.GroupVersionKindFor(object)
		if err != nil {
			return nil, err
		}
		c.uncached[kind] = true
	}
	return c, nil
}

// consistentClient is controller-runtime's client, with reads that wait for its writes.
type consistentClient struct {
	client.Client
	reads        *decodingCache
	timeout      time.Duration
	uncached     map[schema.GroupVersionKind]bool // kinds that the client reads from the server
	unstructured bool                             // the client reads unstructured objects from the cache
	written      atomic.Uint64                    // number of completed writes

	config *rest.Config
	http   *http.Client
	codecs serializer.CodecFactory
	mu     sync.Mutex
	rest   map[schema.GroupVersionKind]rest.Interface
}

// Get implements [client.Reader].
func (c *consistentClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	get := func() error { return c.Client.Get(ctx, key, obj, opts...) }
	if (&client.GetOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency {
		return get()
	}
	return c.read(ctx, obj, key, get, func(gone []client.ObjectKey) bool { return len(gone) > 0 })
}

// List implements [client.Reader].
func (c *consistentClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	get := func() error { return c.Client.List(ctx, list, opts...) }
	all := (&client.ListOptions{}).ApplyOptions(opts)
	if all.DisableReadYourWritesConsistency {
		return get()
	}
	return c.read(ctx, list, client.ObjectKey{Namespace: all.Namespace}, get, func(gone []client.ObjectKey) (found bool) {
		if len(gone) == 0 {
			return false
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			if object, err := meta.Accessor(item); err == nil {
				found = found || slices.Contains(gone, client.ObjectKey{Namespace: object.GetNamespace(), Name: object.GetName()})
			}
			return nil
		})
		return found
	})
}

// read calls get when the cache contains the writes to an object, or to the objects in a namespace if the key has no name.
// obj is the object or list that get fills. outdated reports whether it shows objects that are gone.
func (c *consistentClient) read(ctx context.Context, obj runtime.Object, key client.ObjectKey, get func() error, outdated func(gone []client.ObjectKey) bool) error {
	from, key := c.unsettled(ctx, obj, key)
	if len(from) == 0 {
		return get()
	}
	if slices.ContainsFunc(from, func(f *follower) bool { return !f.progress.HasSynced() }) {
		if err := get(); err != nil { // waits for the first list, or reports that the cache has not started
			return err
		}
	}
	for began := time.Now(); ; {
		var gone []client.ObjectKey
		for _, f := range from {
			absent, err := c.wait(ctx, f, key, began)
			if err != nil {
				return err
			}
			gone = append(gone, absent...)
		}
		if err := get(); err != nil || !outdated(gone) {
			return err
		}
	}
}

// unsettled returns the informers from which the client reads obj, and whose stores may not contain all writes. It returns
// none if the client reads from the server. It also returns the key without the namespace if the kind has no namespaces.
func (c *consistentClient) unsettled(ctx context.Context, obj runtime.Object, key client.ObjectKey) (from []*follower, _ client.ObjectKey) {
	kind, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return nil, key // the read reports the error
	}
	if meta.IsListType(obj) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	form := formOf(obj)
	if c.uncached[kind] || form == unstructuredForm && !c.unstructured {
		return nil, key
	}
	for _, f := range c.reads.followers.of(kind.GroupKind()) {
		if f.kind == kind && f.form == form && !f.empty() {
			from = append(from, f)
		}
	}
	if len(from) == 0 {
		return nil, key
	}
	if namespaced, err := apiutil.IsGVKNamespaced(kind, c.RESTMapper()); err == nil && !namespaced {
		key.Namespace = ""
	}
	return slices.DeleteFunc(from, func(f *follower) bool { return !f.selected(ctx).covers(key) }), key
}

// wait blocks until a store agrees with the writes to an object, or to the objects in a namespace if the key has no name.
// It returns the objects that are gone, but could appear in the store for a while. The read began at the time began.
func (c *consistentClient) wait(ctx context.Context, f *follower, key client.ObjectKey, began time.Time) (absent []client.ObjectKey, err error) {
	var retry time.Time // earliest time for the next question after a failed one
	for {
		p, state, now := f.pending(key), f.progress.State(), time.Now()
		if p.key.Name == "" || state.Phase == lw.Stopped {
			return p.absent, nil
		}
		end, wake := began.Add(c.timeout), now.Add(healthyTimeout)
		if state.Phase == lw.Live {
			healthy := began
			if state.Since.After(began) {
				healthy = state.Since
			}
			end = earlier(end, healthy.Add(healthyTimeout))
			if p.unasked != nil {
				ask := healthy.Add(askAfter)
				if p.unknown {
					ask = healthy
				}
				if ask.Before(retry) {
					ask = retry
				}
				if ask.After(now) {
					wake = ask
				} else if c.ask(ctx, f, *p.unasked, end) == nil {
					continue
				} else {
					retry = now.Add(askAfter)
					wake = retry
				}
			}
		}
		wake = earlier(end, wake)
		if ctx.Err() == nil && now.Before(end) {
			until, cancel := context.WithDeadline(ctx, wake)
			_ = f.progress.WaitFor(until, p.version) // the next round finds out why it has ended
			cancel()
			continue
		}
		return nil, &StaleReadError{Kind: f.kind, Key: p.key, State: state, Err: context.Cause(ctx)}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// request returns a request for a collection or, after a call of Name, for an object.
func (c *consistentClient) request(verb string, kind schema.GroupVersionKind, namespace string) (*rest.Request, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.rest[kind]
	if from == nil {
		var err error
		if from, err = apiutil.RESTClientForGVK(kind, true, true, c.config, c.codecs, c.http); err != nil {
			return nil, err
		}
		c.rest[kind] = from
	}
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	return from.Verb(verb).NamespaceIfScoped(namespace, mapping.Scope.Name() == meta.RESTScopeNameNamespace).Resource(mapping.Resource.Resource), nil
}

// ask asks the server whether the collection of an informer contains an object, and updates the write to the object.
func (c *consistentClient) ask(ctx context.Context, f *follower, key client.ObjectKey, end time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	number := c.written.Load()
	list, err := c.list(ctx, f, key.Namespace, fields.OneTermEqualSelector("metadata.name", key.Name))
	if err != nil {
		return err
	}
	version := ""
	if len(list.Items) > 0 {
		version = list.Items[0].GetResourceVersion()
	}
	f.answer(key, number, list.GetResourceVersion(), version)
	return nil
}

// list requests the metadata of at most one object that an informer follows. An empty namespace selects all its namespaces.
func (c *consistentClient) list(ctx context.Context, f *follower, namespace string, selector fields.Selector) (*unstructured.UnstructuredList, error) {
	in := f.selected(ctx)
	request, err := c.request("GET", f.kind, cmp.Or(namespace, in.namespace))
	if err != nil {
		return nil, err
	}
	if !in.fields.Empty() {
		selector = fields.AndSelectors(in.fields, selector)
	}
	list := &unstructured.UnstructuredList{}
	return list, request.Param("limit", "1").Param("labelSelector", in.labels.String()).Param("fieldSelector", selector.String()).
		SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json").Do(ctx).Into(list)
}

// Create implements [client.Writer].
func (c *consistentClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	o := (&client.CreateOptions{}).ApplyOptions(opts)
	return c.wrote(ctx, obj, obj, excluded(o.DryRun, o.DisableReadYourWritesConsistency), c.written.Load(), c.Client.Create(ctx, obj, opts...))
}

// Update implements [client.Writer].
func (c *consistentClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	o := (&client.UpdateOptions{}).ApplyOptions(opts)
	return c.wrote(ctx, obj, obj, excluded(o.DryRun, o.DisableReadYourWritesConsistency), c.written.Load(), c.Client.Update(ctx, obj, opts...))
}

// Patch implements [client.Writer].
func (c *consistentClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	o := (&client.PatchOptions{}).ApplyOptions(opts)
	return c.wrote(ctx, obj, obj, excluded(o.DryRun, o.DisableReadYourWritesConsistency), c.written.Load(), c.Client.Patch(ctx, obj, patch, opts...))
}

// Apply implements [client.Writer].
func (c *consistentClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	o := (&client.ApplyOptions{}).ApplyOptions(opts)
	return c.applied(ctx, obj, obj, excluded(o.DryRun, o.DisableReadYourWritesConsistency), c.written.Load(), c.Client.Apply(ctx, obj, opts...))
}

// DeleteAllOf implements [client.Writer]. It returns [ErrDeleteAllOf], except for a dry run.
func (c *consistentClient) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	if len((&client.DeleteAllOfOptions{}).ApplyOptions(opts).DryRun) == 0 {
		return ErrDeleteAllOf
	}
	return c.Client.DeleteAllOf(ctx, obj, opts...)
}

// Delete implements [client.Writer].
func (c *consistentClient) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	o := (&client.DeleteOptions{}).ApplyOptions(opts)
	if excluded(o.DryRun, o.DisableReadYourWritesConsistency) {
		return c.Client.Delete(ctx, obj, opts...)
	}
	kind, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	request, err := c.request("DELETE", kind, obj.GetNamespace())
	if err != nil {
		return err
	}
	key, err := c.keyOf(kind, obj)
	if err != nil {
		return err
	}
	stored := map[*follower]string{} // UIDs before the deletion, because its event may arrive before the response
	for _, f := range c.reads.followers.of(kind.GroupKind()) {
		stored[f], _ = f.progress.UID(key.Namespace, key.Name)
	}
	began, response := c.written.Load(), &unstructured.Unstructured{}
	// controller-runtime's client does not return the response.
	if err := request.Name(obj.GetName()).Body(o.AsDeleteOptions()).Do(ctx).Into(response); err != nil {
		return err
	}
	w := write{number: c.written.Add(1), version: response.GetResourceVersion()}
	if w.version != "" { // the object, because it has finalizers or the server always returns it
		c.record(ctx, kind, key, w, began, labelsOf(response))
		return nil
	}
	w.gone = true
	w.uid, _, _ = unstructured.NestedString(response.Object, "details", "uid")
	for _, f := range c.reads.followers.of(kind.GroupKind()) {
		w.seen = w.uid != "" && stored[f] == w.uid
		f.record(ctx, key, w, began, nil)
		f.bound(func() (string, error) {
			list, err := c.list(ctx, f, "", fields.Everything())
			if err != nil {
				return "", err
			}
			return list.GetResourceVersion(), nil
		})
	}
	return nil
}

func excluded(dryRun []string, disabled bool) bool { return disabled || len(dryRun) > 0 }

// labelsOf returns the labels of an object, which are not nil.
func labelsOf(obj metav1.Object) map[string]string {
	if labels := obj.GetLabels(); labels != nil {
		return labels
	}
	return map[string]string{}
}

// keyOf returns the name of an object, and its namespace if its kind has namespaces.
func (c *consistentClient) keyOf(kind schema.GroupVersionKind, obj client.Object) (client.ObjectKey, error) {
	namespaced, err := apiutil.IsGVKNamespaced(kind, c.RESTMapper())
	if err == nil && !namespaced {
		return client.ObjectKey{Name: obj.GetName()}, nil
	}
	return client.ObjectKeyFromObject(obj), err
}

// wrote records a write to obj and returns err, the error of the write. body contains the response, which is obj or a
// subresource of obj. began is the number of writes that were complete when the request was sent.
func (c *consistentClient) wrote(ctx context.Context, obj, body client.Object, excluded bool, began uint64, err error) error {
	if err != nil || excluded {
		return err
	}
	kind, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	key, err := c.keyOf(kind, obj)
	if err != nil {
		return err
	}
	var has map[string]string
	if body == obj {
		has = labelsOf(obj)
	}
	version := body.GetResourceVersion()
	c.record(ctx, kind, key, write{number: c.written.Add(1), version: version, unknown: version == ""}, began, has)
	return nil
}

// applied is wrote for an apply configuration.
func (c *consistentClient) applied(ctx context.Context, obj, body runtime.ApplyConfiguration, excluded bool, began uint64, err error) error {
	if err != nil || excluded {
		return err
	}
	object, err := metadataOf(obj)
	if err != nil {
		return err
	}
	response := object
	if body != obj {
		if response, err = metadataOf(body); err != nil {
			return err
		}
	}
	return c.wrote(ctx, object, response, false, began, nil)
}

func metadataOf(obj runtime.ApplyConfiguration) (*metav1.PartialObjectMetadata, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	object := &metav1.PartialObjectMetadata{}
	return object, json.Unmarshal(text, object)
}

func (c *consistentClient) record(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey, w write, began uint64, has map[string]string) {
	for _, f := range c.reads.followers.of(kind.GroupKind()) {
		f.record(ctx, key, w, began, has)
	}
}

// Status implements [client.StatusClient].
func (c *consistentClient) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource implements [client.SubResourceClientConstructor].
func (c *consistentClient) SubResource(name string) client.SubResourceClient {
	return &subresource{c.Client.SubResource(name), c, name}
}

// subresource is a client for a subresource. Its writes also change the object.
type subresource struct {
	client.SubResourceClient
	client *consistentClient
	name   string
}

// Create implements [client.SubResourceWriter]. The response is not the object, so the next read asks the server for it.
func (s *subresource) Create(ctx context.Context, obj, body client.Object, opts ...client.SubResourceCreateOption) error {
	var o client.SubResourceCreateOptions
	for _, option := range opts {
		option.ApplyToSubResourceCreate(&o)
	}
	began := s.client.written.Load()
	err := s.SubResourceClient.Create(ctx, obj, body, opts...)
	excluded := excluded(o.DryRun, o.DisableReadYourWritesConsistency) || s.name == "token" // does not change the ServiceAccount
	return s.client.wrote(ctx, obj, &metav1.PartialObjectMetadata{}, excluded, began, err)
}

// Update implements [client.SubResourceWriter].
func (s *subresource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	o, body := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts), obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.client.wrote(ctx, obj, body, excluded(o.DryRun, o.DisableReadYourWritesConsistency), s.client.written.Load(), s.SubResourceClient.Update(ctx, obj, opts...))
}

// Patch implements [client.SubResourceWriter].
func (s *subresource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	o, body := (&client.SubResourcePatchOptions{}).ApplyOptions(opts), obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.client.wrote(ctx, obj, body, excluded(o.DryRun, o.DisableReadYourWritesConsistency), s.client.written.Load(), s.SubResourceClient.Patch(ctx, obj, patch, opts...))
}

// Apply implements [client.SubResourceWriter].
func (s *subresource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	o, body := (&client.SubResourceApplyOptions{}).ApplyOpts(opts), obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.client.applied(ctx, obj, body, excluded(o.DryRun, o.DisableReadYourWritesConsistency), s.client.written.Load(), s.SubResourceClient.Apply(ctx, obj, opts...))
}
