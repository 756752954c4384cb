package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ReadYourWrites creates clients whose reads from the cache show their earlier writes. The zero value is valid. Pass
// the method NewClient to the manager, together with NewCache:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{
//		NewCache:  listwatch.NewCache,
//		NewClient: listwatch.ReadYourWrites{}.NewClient,
//	})
//
// A Get waits until the cache contains the completed writes to the object, and a List waits for the writes to objects
// of its kind in its namespace. Writes include patches, Apply, deletions and writes to subresources. A read also waits
// for writes by other such clients of the same cache, but not for writes that failed or are still in progress. It does
// not wait for dry runs, for kinds that the client reads from the server, or for writes whose resourceVersions are not
// numbers. To read without waiting, pass [client.DisableReadYourWritesConsistency] to Get or List. Passing it to a write
// has no effect.
//
// A read that cannot wait any longer returns a [*StaleReadError]. DeleteAllOf returns [ErrDeleteAllOf].
type ReadYourWrites struct {
	// Timeout limits how long a read waits. The default is 10 seconds. A read fails earlier if the watch has been healthy
	// for 5 seconds during the wait, because a healthy watch delivers a write much faster.
	Timeout time.Duration
}

// healthyTimeout limits how long a read waits on a healthy watch. If the write has not arrived by then, it is unlikely
// to arrive.
const healthyTimeout = 5 * time.Second

// askAfter is the time after which a read on a healthy watch asks the server whether the collection contains an object,
// because the write may cause no event, for example if the field selector does not match. If the write's result is
// unknown, the read asks at once. askAfter is also the pause before a read asks again.
const askAfter = time.Second

// poll is the longest time between two checks of the watch's state during a read. WaitFor notices only a new
// resourceVersion, so a read must check regularly whether the state has changed.
const poll = 100 * time.Millisecond

// ErrDeleteAllOf is returned by DeleteAllOf of a client from [ReadYourWrites]. The client sends no request, because the
// response would not show which deletions later reads must wait for.
var ErrDeleteAllOf = errors.New("controllerruntime: reads cannot wait for the effect of DeleteAllOf: delete the objects of a List one by one, or use a client without ReadYourWrites")

// StaleReadError is returned by a read if the cache does not receive the client's earlier writes in time. The read can
// be repeated.
type StaleReadError struct {
	Kind  schema.GroupVersionKind
	Key   client.ObjectKey // of an object whose last write the cache does not contain
	State lw.State         // of the informer
	Err   error            // context.Cause of the read's context, or nil after a timeout
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
		return client.New(config, opts) // no read has to wait, because the client reads from the server or writes nothing
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
	opts.HTTPClient = cmp.Or(opts.HTTPClient, reads.http)
	c := &consistentClient{
		reads: reads, timeout: cmp.Or(r.Timeout, 10*time.Second), uncached: map[schema.GroupVersionKind]bool{}, unstructured: opts.Cache.Unstructured,
		healthyTimeout: healthyTimeout, askAfter: askAfter,
	}
	var err error
	if c.metadata, err = metadata.NewForConfigAndClient(metadata.ConfigFor(config), opts.HTTPClient); err != nil {
		return nil, err
	}
	recording := *opts.HTTPClient
	recording.Transport = &recorder{client: c, next: cmp.Or(recording.Transport, http.DefaultTransport)}
	opts.HTTPClient = &recording
	if c.Client, err = client.New(config, opts); err != nil {
		return nil, err
	}
	for _, object := range opts.Cache.DisableFor {
		kind, err := c.GroupVersionKindFor(object)
		if err != nil {
			return nil, err
		}
		c.uncached[kind] = true
	}
	return c, nil
}

// consistentClient is controller-runtime's client, but its reads wait until the cache contains the client's writes. Its
// HTTP client records the writes.
type consistentClient struct {
	client.Client
	reads        *decodingCache
	metadata     metadata.Interface
	timeout      time.Duration
	uncached     map[schema.GroupVersionKind]bool // kinds that the client reads from the server
	unstructured bool                             // the client reads unstructured objects from the cache

	healthyTimeout, askAfter time.Duration // equal to the constants with these names, except in tests
}

// DeleteAllOf implements [client.Writer]. It returns [ErrDeleteAllOf], except for a dry run.
func (c *consistentClient) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	if len((&client.DeleteAllOfOptions{}).ApplyOptions(opts).DryRun) == 0 {
		return ErrDeleteAllOf
	}
	return c.Client.DeleteAllOf(ctx, obj, opts...)
}

// Get implements [client.Reader].
func (c *consistentClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	get := func() error { return c.Client.Get(ctx, key, obj, opts...) }
	if (&client.GetOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency {
		return get()
	}
	// If the object was deleted, but get still succeeds, obj contains the deleted object.
	return c.read(ctx, obj, key, get, func(map[client.ObjectKey]bool) bool { return true })
}

// List implements [client.Reader].
func (c *consistentClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	get := func() error { return c.Client.List(ctx, list, opts...) }
	all := (&client.ListOptions{}).ApplyOptions(opts)
	if all.DisableReadYourWritesConsistency {
		return get()
	}
	return c.read(ctx, list, client.ObjectKey{Namespace: all.Namespace}, get, func(gone map[client.ObjectKey]bool) (found bool) {
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			if object, err := meta.Accessor(item); err == nil {
				found = found || gone[client.ObjectKey{Namespace: object.GetNamespace(), Name: object.GetName()}]
			}
			return nil
		})
		return found
	})
}

// read waits until the cache contains the writes to an object, or to all objects in a namespace if the key has no name.
// It then calls get. obj is the object or list that get fills. gone contains the objects that the client has deleted,
// and shows reports whether obj contains any of them.
func (c *consistentClient) read(ctx context.Context, obj runtime.Object, key client.ObjectKey, get func() error, shows func(gone map[client.ObjectKey]bool) bool) error {
	from := c.followers(obj)
	for _, f := range from {
		if len(f.written(key)) > 0 && !f.progress.HasSynced() {
			// This get waits for the first list, or reports that the cache has not started. The list may lack a new object.
			if err := get(); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	for began := time.Now(); ; {
		gone := map[client.ObjectKey]bool{}
		var stale *StaleReadError
		for _, f := range from {
			for _, written := range f.written(key) {
				absent, err := c.wait(ctx, f, written, began)
				if err != nil {
					return err
				}
				if absent {
					gone[written] = true
					stale = &StaleReadError{Kind: f.kind, Key: written, State: f.progress.State()}
				}
			}
		}
		// After the wait, an older event may have added a deleted object, so the result must be checked.
		if err := get(); err != nil || len(gone) == 0 || !shows(gone) {
			return err
		}
		if stale.Err = context.Cause(ctx); stale.Err != nil || time.Since(began) >= c.timeout {
			return stale
		}
	}
}

// followers returns the informers from which the client reads obj. It returns none if the client reads from the server.
func (c *consistentClient) followers(obj runtime.Object) []*follower {
	kind, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return nil // the read reports the error
	}
	if meta.IsListType(obj) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	if _, ok := obj.(runtime.Unstructured); c.uncached[kind] || ok && !c.unstructured {
		return nil
	}
	return c.reads.followers.find(func(f *follower) bool { return f.kind == kind && f.form == formOf(obj) })
}

// wait blocks until a store contains the last write to an object. The parameter began is the time at which the read and
// its timeout started. follower.pending documents absent.
func (c *consistentClient) wait(ctx context.Context, f *follower, key client.ObjectKey, began time.Time) (absent bool, err error) {
	var asked time.Time
	for {
		version := f.progress.ResourceVersion() // read before pending, so that WaitFor below notices every later change
		w, absent := f.pending(key)
		state, now := f.progress.State(), time.Now()
		if w == nil || state.Phase == lw.Stopped { // the read of a stopped informer fails, or starts another one
			return absent, nil
		}
		left, ask := c.timeout-now.Sub(began), false
		if state.Phase == lw.Live {
			healthy := min(now.Sub(began), now.Sub(state.Since))
			left = min(left, c.healthyTimeout-healthy)
			// Only the server can settle a write whose result is unknown. After askAfter, wait also asks the server
			// about other writes. For example, the informer receives no event if the object does not match the
			// informer's selector.
			ask = !w.asked && now.Sub(asked) >= c.askAfter && (w.unknown() || healthy >= c.askAfter)
		}
		switch {
		case left <= 0 || ctx.Err() != nil:
			return false, &StaleReadError{Kind: f.kind, Key: key, State: state, Err: context.Cause(ctx)}
		case ask:
			asked = now
			c.ask(ctx, f, key, w.number, left)
		default:
			until, cancel := context.WithTimeout(ctx, min(left, poll))
			_ = f.progress.WaitFor(until, following(version)) // the next round finds out why it has ended
			cancel()
		}
	}
}

// ask asks the server whether the collection of an informer contains an object. If the last write to the object still has
// this number, the answer replaces it. If the request fails, the write stays unchanged and wait asks again later.
func (c *consistentClient) ask(ctx context.Context, f *follower, key client.ObjectKey, number uint64, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	list, err := c.list(ctx, f, key.Namespace, fields.OneTermEqualSelector("metadata.name", key.Name).String())
	if err != nil {
		return
	}
	answer := write{number: number, version: list.ResourceVersion, absent: true, asked: true}
	if len(list.Items) > 0 {
		answer.version, answer.absent = list.Items[0].ResourceVersion, false
	}
	f.answer(key, answer)
}

// list requests the metadata of at most one object that an informer follows. Its callers need only one object, or only
// the list's resourceVersion. An empty namespace selects all namespaces of the informer.
func (c *consistentClient) list(ctx context.Context, f *follower, namespace, selector string) (*metav1.PartialObjectMetadataList, error) {
	s, err := f.selected(ctx)
	if err != nil {
		return nil, err
	}
	return c.metadata.Resource(f.kind.GroupVersion().WithResource(s.plural)).Namespace(cmp.Or(namespace, s.namespace)).List(ctx, metav1.ListOptions{
		Limit: 1, LabelSelector: s.labels.String(), FieldSelector: strings.Trim(s.fields.String()+","+selector, ","),
	})
}
