package clientgo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// errNotWrapped is returned if a ListerWatcher does not send its requests with an HTTP client from WrapHTTPClient.
var errNotWrapped = errors.New("clientgo: the ListerWatcher does not use an HTTP client from WrapHTTPClient")

// source is the [lw.Transport] of an informer. It calls the ListerWatcher once to record a request that is never sent.
// All requests of the engine use the server, path, selectors and headers of the recorded request.
type source struct {
	lister cache.ListerWithContext
	accept *string // if not nil, replaces the Accept header of the recorded request

	mu         sync.Mutex
	collection *collection
	failure    error // permanent error that every request returns, or nil
}

// collection contains the target of an informer's requests.
type collection struct {
	transport *lwhttp.Transport
	server    string // scheme and host of the URL
	path      string
	query     string
	protobuf  bool // the clientset allows protobuf
}

func (s *source) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	c, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	own := *req
	_, version := c.resource()
	switch {
	case version != "" && strings.HasSuffix(version, req.Path): // the engine checks the kind of the collection
		own.Path = version
	case c.query != "":
		own.Path, own.Query = c.path, c.query+"&"+req.Query
	default:
		own.Path = c.path
	}
	return c.transport.Open(ctx, &own)
}

// String returns the URL path of the collection for logs, or "unknown" before the first request.
func (s *source) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collection == nil {
		return "unknown"
	}
	return s.collection.path
}

func (s *source) resolve(ctx context.Context) (*collection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collection != nil || s.failure != nil {
		return s.collection, s.failure
	}
	var r recording
	_, err := s.lister.ListWithContext(record(ctx, &r), metav1.ListOptions{})
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

// ownParameters contains the query parameters that the engine sets itself.
var ownParameters = []string{
	"allowWatchBookmarks", "continue", "limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeout",
	"timeoutSeconds", "watch",
}

// collection returns the target of the recorded request. Its transport adds the headers of the recorded request to each
// request.
func (r *recording) collection() (*collection, error) {
	target := *r.request.URL
	server := url.URL{Scheme: target.Scheme, Host: target.Host}
	client := r.client
	client.Timeout = 0 // a client timeout would end every watch
	client.Transport = &headers{next: r.client.Transport, want: r.request.Header}
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

// resource returns the resource that the path identifies, and the path of the resource's API version. For example, the
// path /k8s/clusters/c-1/apis/apps/v1/namespaces/shop/deployments has the API version /k8s/clusters/c-1/apis/apps/v1.
func (c *collection) resource() (resource lw.Resource, version string) {
	path := strings.Split(c.path, "/")
	plural := path[len(path)-1]
	path = path[:len(path)-1]
	if n := len(path); n > 1 && path[n-2] == "namespaces" {
		path = path[:n-2]
	}
	switch n := len(path); {
	case n > 1 && path[n-2] == "api":
		return lw.Resource{Version: path[n-1], Plural: plural}, strings.Join(path, "/")
	case n > 2 && path[n-3] == "apis":
		return lw.Resource{Group: path[n-2], Version: path[n-1], Plural: plural}, strings.Join(path, "/")
	}
	return lw.Resource{Raw: c.path}, ""
}

// headers is an [http.RoundTripper] that adds the headers of the clientset to each request.
type headers struct {
	next http.RoundTripper
	want http.Header
}

func (h *headers) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Del("User-Agent") // the next RoundTripper sets the User-Agent of the rest.Config
	for name, values := range h.want {
		if name != "Accept" && name != "Accept-Encoding" {
			request.Header[name] = values
		}
	}
	next := h.next
	if next == nil {
		next = http.DefaultTransport
	}
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	return response, requireProtobuf(request, response)
}
