package clientgo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// client is an informer's [lw.ListerWatcher]. It requests protobuf if the Go type of the objects supports it, and
// switches to JSON after a 406 response.
type client struct {
	informer *informer
	opts     lw.ClientOptions
	rejected atomic.Bool // the server has rejected protobuf, so all later requests are for JSON

	mu             sync.Mutex
	json, protobuf *lw.Client[*object] // created before the first request; protobuf is nil if the informer requests only JSON

	source  lw.Source[*object]
	relist  bool    // whether the next watch fails without a request, so that the stream lists; used only by the informer's own goroutine
	attempt attempt // the current request, for interrupted; used only by the informer's own goroutine
}

func (l *client) Source() *lw.Source[*object] { return &l.source }

// List implements [lw.ListerWatcher]. Because it returns the objects of an [lw.Client] unchanged, it calls PassLookup, so
// that the lw.Client can reuse stored objects.
func (l *client) List(ctx context.Context, opts lw.ListOptions) *lw.Page[*object] {
	kind := listing
	if opts.Limit == 1 { // a list of a single object is lw's check before a watch
		kind = watching
	}
	l.informer.measure()
	l.attempt.begin(kind, &opts)
	page := new(lw.Page[*object])
	page.Objects = negotiate(ctx, l, func(made *lw.Client[*object], yield func(*object, error) bool) {
		response := made.List(ctx, opts.PassLookup(l, made))
		response.Objects(yield)
		page.ListMeta = response.ListMeta
	})
	return page
}

// Watch implements [lw.ListerWatcher]. It calls PassLookup for the same reason as List.
func (l *client) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[*object], error] {
	kind := watching
	if opts.SendInitialEvents {
		kind = streaming
	}
	l.informer.measure()
	l.attempt.begin(kind, &opts)
	if l.relist {
		l.relist = false
		return func(yield func(lw.Event[*object], error) bool) { yield(lw.Event[*object]{}, rejected{}) }
	}
	return negotiate(ctx, l, func(made *lw.Client[*object], yield func(lw.Event[*object], error) bool) {
		made.Watch(ctx, opts.PassLookup(l, made))(func(event lw.Event[*object], err error) bool {
			switch event.Type {
			case lw.Synced:
				l.attempt.kind = watching // the streaming list is complete, and its request continues as a watch
			case lw.WatchStarted:
				l.attempt.opened = true
			}
			if !yield(event, err) {
				return false
			}
			l.informer.measure()
			return true
		})
	})
}

// rejected is the error of a watch that is not sent, because the store of a [Reflector] has rejected a list. It makes the
// stream relist, like [lw.ErrExpired].
type rejected struct{}

func (rejected) Error() string        { return "clientgo: the store rejected a list" }
func (rejected) Is(target error) bool { return target == lw.ErrExpired }

// clients returns the clients for JSON and protobuf, creating them on the first call.
func (l *client) clients(ctx context.Context) (json, protobuf *lw.Client[*object], err error) {
	target, err := l.informer.source.resolve(ctx)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.json != nil {
		return l.json, l.protobuf, nil
	}
	resource, _ := target.resource()
	if l.informer.codec.protobuf() && target.protobuf {
		opts := l.opts
		opts.Protobuf = true
		if l.protobuf, err = lw.NewClient(l.informer.source, resource, l.informer.codec, &opts); err != nil {
			return nil, nil, err
		}
	}
	l.json, err = lw.NewClient(l.informer.source, resource, l.informer.codec, &l.opts)
	return l.json, l.protobuf, err
}

// negotiate sends a request and yields the results. If the server rejects protobuf before the first result, negotiate
// repeats the request with JSON. If the rejection comes later, negotiate yields the error, and the stream's next
// request is for JSON.
func negotiate[V any](ctx context.Context, l *client, request func(made *lw.Client[*object], yield func(V, error) bool)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		json, protobuf, err := l.clients(ctx)
		if err != nil {
			var none V
			yield(none, err)
			return
		}
		if protobuf == nil || l.rejected.Load() {
			request(json, yield)
			return
		}
		first, repeat := true, false
		request(protobuf, func(value V, err error) bool {
			if status, ok := errors.AsType[*lw.StatusError](err); ok && status.Code == http.StatusNotAcceptable {
				l.rejected.Store(true)
				if repeat = first; repeat {
					return false
				}
			}
			first = false
			return yield(value, err)
		})
		if repeat {
			request(json, yield)
		}
	}
}

// allowsProtobuf reports whether an Accept header sent by client-go allows protobuf. It ignores "*/*", because
// client-go adds that to every Accept header.
func allowsProtobuf(accept string) bool {
	return accept == "" || strings.Contains(accept, runtime.ContentTypeProtobuf)
}

// requireProtobuf turns a JSON response into a 406 response if the request is for protobuf, because a server may ignore
// the Accept header. The client then switches to JSON, as it does when a server rejects protobuf. A response without a
// Content-Type counts as JSON. Error responses stay unchanged.
func requireProtobuf(request *http.Request, response *http.Response) error {
	if !strings.HasPrefix(request.Header.Get("Accept"), runtime.ContentTypeProtobuf) || response.StatusCode != http.StatusOK {
		return nil
	}
	if has := response.Header.Get("Content-Type"); has != "" && !strings.HasPrefix(has, runtime.ContentTypeJSON) {
		return nil
	}
	err := response.Body.Close()
	response.StatusCode, response.Status, response.Body = http.StatusNotAcceptable, "406 Not Acceptable", http.NoBody
	return err
}

// errNotWrapped is returned if a ListerWatcher does not use an HTTP client from WrapHTTPClient.
var errNotWrapped = errors.New("clientgo: the ListerWatcher does not use an HTTP client from WrapHTTPClient: " +
	"create its clientset with one, or use client-go's informers, for example with a fake clientset")

// source is an informer's [lw.Transport]. It calls the ListerWatcher once, to record a request that is never sent. From
// this request, the informer learns the server, the path, the selectors and the headers for its own requests.
type source struct {
	lister cache.ListerWithContext
	accept *string // if not nil, replaces the Accept header of the recorded request

	mu         sync.Mutex
	collection *collection
	failure    error // permanent error that every request returns, or nil
}

// collection describes where an informer sends its requests.
type collection struct {
	transport *lwhttp.Transport
	server    string // scheme and host of the URL
	path      string
	query     string
	protobuf  bool // the clientset allows protobuf
}

func (s *source) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	c, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	own := *req
	if _, version := c.resource(); version != "" && strings.HasSuffix(version, req.Path) {
		own.Path = version // lw's discovery request for the collection's kind; it has no selectors
	} else {
		own.Path, own.Query = c.path, strings.Trim(c.query+"&"+req.Query, "&")
	}
	return c.transport.Open(ctx, &own)
}

// String returns the collection's URL path and selectors for logs, or "unknown" before the first request.
func (s *source) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collection == nil {
		return "unknown"
	}
	return strings.TrimSuffix(s.collection.path+"?"+s.collection.query, "?")
}

// resolve returns the collection. The first call records the ListerWatcher's request, and later calls return the same
// result. If the ListerWatcher fails before it sends a request, the next call tries again.
func (s *source) resolve(ctx context.Context) (*collection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collection != nil || s.failure != nil {
		return s.collection, s.failure
	}
	var r recording
	_, err := s.lister.ListWithContext(context.WithValue(ctx, recordingKey{}, &r), metav1.ListOptions{})
	switch {
	case r.request != nil:
		if s.collection, s.failure = r.collection(); s.failure == nil && s.accept != nil {
			s.collection.protobuf = allowsProtobuf(*s.accept)
		}
		return s.collection, s.failure
	case err == nil:
		s.failure = errNotWrapped
		return nil, s.failure
	}
	return nil, err
}

// ownParameters contains the query parameters that lw sets itself. They are removed from the recorded request.
var ownParameters = []string{
	"allowWatchBookmarks", "continue", "limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeout",
	"timeoutSeconds", "watch",
}

// collection returns the target of the recorded request. Its transport adds the recorded headers to each request.
func (r *recording) collection() (*collection, error) {
	target := *r.request.URL
	server := url.URL{Scheme: target.Scheme, Host: target.Host}
	client := r.client
	client.Timeout = 0 // a client timeout would end every watch
	client.Transport = &headers{next: cmp.Or(r.client.Transport, http.DefaultTransport), want: r.request.Header, host: target.Host}
	transport, err := lwhttp.New(server.String(), &lwhttp.Options{Client: &client})
	if err != nil {
		return nil, fmt.Errorf("clientgo: %w", err)
	}
	query := target.Query()
	for _, name := range ownParameters {
		query.Del(name)
	}
	return &collection{
		transport: transport, server: server.String(), path: target.EscapedPath(), query: query.Encode(),
		protobuf: allowsProtobuf(r.request.Header.Get("Accept")),
	}, nil
}

// resource returns the resource that the path identifies, and the path of its API version. For example, the path
// /k8s/clusters/c-1/apis/apps/v1/namespaces/shop/deployments has the API version /k8s/clusters/c-1/apis/apps/v1.
func (c *collection) resource() (resource lw.Resource, version string) {
	path := strings.Split(c.path, "/")
	plural := path[len(path)-1]
	path, namespace := path[:len(path)-1], ""
	if n := len(path); n > 1 && path[n-2] == "namespaces" {
		path, namespace = path[:n-2], path[n-1]
	}
	switch n := len(path); {
	case n > 1 && path[n-2] == "api":
		return lw.Resource{Version: path[n-1], Plural: plural, Namespace: namespace}, strings.Join(path, "/")
	case n > 2 && path[n-3] == "apis":
		return lw.Resource{Group: path[n-2], Version: path[n-1], Plural: plural, Namespace: namespace}, strings.Join(path, "/")
	}
	return lw.Resource{Raw: c.path}, ""
}

// WrapHTTPClient returns a copy of client for use in a clientset. The ListerWatcher of an informer in this package
// must use such a clientset. The copy sends the same requests as client.
func WrapHTTPClient(client *http.Client) *http.Client {
	wrapped := *client
	if _, ok := wrapped.Transport.(*tap); !ok { // otherwise, client is already wrapped
		wrapped.Transport = &tap{next: cmp.Or(wrapped.Transport, http.DefaultTransport), client: *client}
	}
	return &wrapped
}

// tap is an [http.RoundTripper]. If a request's context contains a recording, tap stores the request in the
// recording instead of sending it. It sends all other requests.
type tap struct {
	next   http.RoundTripper
	client http.Client // copy of the client that was passed to WrapHTTPClient
}

// recording is a context value that stores an unsent request and its HTTP client.
type recording struct {
	request *http.Request
	client  http.Client
}

type recordingKey struct{}

func (t *tap) RoundTrip(request *http.Request) (*http.Response, error) {
	if r, ok := request.Context().Value(recordingKey{}).(*recording); ok {
		r.request, r.client = request, t.client
		return emptyList(request), nil
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper returns the wrapped RoundTripper, for libraries that inspect transports.
func (t *tap) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections closes the wrapped client's idle connections. [http.Client.CloseIdleConnections] calls it.
func (t *tap) CloseIdleConnections() { t.client.CloseIdleConnections() }
