// Package served serves a recording as an API server.
package served

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// Server is an API server whose state follows the recording. It accepts only GET and HEAD requests.
type Server struct {
	recorded    *recording.Recording
	collections map[string]*collection // by path, for example "/apis/apps/v1/deployments"
	discovery   *lwtest.Server
	followed    []*collection // collection of each recorded collection; nil if it was skipped
}

// collection serves one collection. Each collection has its own server because resourceVersions increase within a
// collection, but not across collections.
type collection struct {
	*lwtest.Server
	resource string     // resource name in lwtest
	unlisted int        // recorded collections without a complete list, guarded by mu
	mu       sync.Mutex // guards unlisted
	ready    chan struct{}
}

// New returns a server for the recorded collections. It describes a collection with the discovered apis, or with the
// collection's first object. skipped contains the paths that are not API paths.
func New(ctx context.Context, recorded *recording.Recording, apis []discovery.Resource) (s *Server, skipped []string, err error) {
	s = &Server{recorded: recorded, collections: map[string]*collection{}}
	var resources []lwtest.Resource
	for _, c := range recorded.Collections {
		of, ok := pathOf(c)
		if !ok {
			skipped = append(skipped, c.Raw)
			s.followed = append(s.followed, nil)
			continue
		}
		own, err := s.addCollection(ctx, c, of, apis, &resources)
		if err != nil {
			return nil, nil, err
		}
		s.followed = append(s.followed, own)
	}
	if len(resources) == 0 {
		return nil, skipped, errors.New("the recording contains no collection that can be served")
	}
	s.discovery, err = newServer(resources...)
	return s, skipped, err
}

func (s *Server) addCollection(ctx context.Context, c recording.Collection, of api, apis []discovery.Resource, resources *[]lwtest.Resource) (*collection, error) {
	own := s.collections[of.path()]
	if own == nil {
		resource := completeAPI(ctx, s.recorded, c, of, apis).resource()
		server, err := newServer(resource)
		if err != nil {
			return nil, err
		}
		own = &collection{Server: server, resource: strings.TrimSuffix(of.Plural+"."+of.Group, "."), ready: make(chan struct{})}
		s.collections[of.path()] = own
		*resources = append(*resources, resource)
	}
	own.unlisted++
	return own, nil
}

func newServer(resources ...lwtest.Resource) (*lwtest.Server, error) {
	return lwtest.Start(&lwtest.Options{Resources: resources, History: 1 << 62, Listener: closedListener{}})
}

// closedListener accepts no connections. All requests arrive through Server.ServeHTTP.
type closedListener struct{}

func (closedListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (closedListener) Close() error              { return nil }
func (closedListener) Addr() net.Addr            { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// Close stops the server and ends all requests.
func (s *Server) Close() {
	for _, c := range s.collections {
		c.Close()
	}
	s.discovery.Close()
}

// ServeHTTP implements [http.Handler]. A request for a collection blocks until the first list of the collection has
// been played.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := rejectReason(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusMethodNotAllowed)
		fmt.Fprintln(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"recordings are read-only","reason":"MethodNotAllowed","code":405}`)
		return
	}
	c := s.collections[collectionOf(r.URL.Path)]
	if c == nil {
		s.discovery.ServeHTTP(w, r)
		return
	}
	select {
	case <-c.ready:
		c.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// rejectReason returns the reason to reject a request, or "". It rejects other origins and unknown host names (DNS
// rebinding) because recordings may contain Secrets.
func rejectReason(r *http.Request) string {
	if text := r.Header.Get("Origin"); text != "" {
		if origin, err := url.Parse(text); err != nil || origin.Host != r.Host {
			return "pages of another origin may not read the recording"
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
		return "use an IP address or localhost: other host names are rejected to prevent DNS rebinding"
	}
	return ""
}
