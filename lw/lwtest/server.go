package lwtest

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// Options configures [Start]. Zero fields get defaults.
type Options struct {
	// Listener accepts the connections. The default listens on a free port of 127.0.0.1. Use an in-memory listener for
	// tests with testing/synctest, which cannot use sockets. [Server.Restart] can reopen only a TCP listener.
	Listener net.Listener
	// Resources replaces the default resources. A default resource that is listed here keeps its default definition. To
	// serve more resources or to replace a definition, use [Server.AddResource].
	Resources []Resource
	// Tokens lists the bearer tokens that allow all requests. If Tokens and ForbiddenTokens are nil, requests need no
	// token.
	Tokens []string
	// ForbiddenTokens lists the bearer tokens of a user without permissions. Their requests are rejected with 403.
	ForbiddenTokens []string
	// AllowedOrigins lists the origins whose web pages may use fetch, for example "http://127.0.0.1:8080". By default,
	// no origin is allowed. WebSockets may come from any origin.
	AllowedOrigins []string
	// BookmarkInterval is the time between the bookmarks of a watch. The default is one minute.
	BookmarkInterval time.Duration
	// NoStreamingLists rejects sendInitialEvents, like servers before Kubernetes 1.32.
	NoStreamingLists bool
	// History is the number of revisions that the server keeps. Older revisions are compacted. The default is 100,000.
	History int64

	freshnessWait time.Duration // maximum time that a request waits for a future resourceVersion
}

// Server is a Kubernetes API server. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base URL, for example "http://127.0.0.1:40123". If the server runs behind another listener, use the
	// URL of that listener.
	URL string

	opts Options
	addr string

	mu        sync.Mutex
	log       *revlog.Log[*object]
	resources []*Resource
	changed   chan struct{} // closed and replaced when `log` or `stalled` changes
	stalled   bool
	down      bool
	inflight  map[*inflight]struct{}
	faults    []*fault
	requests  []Request
	http      *http.Server

	compresses atomic.Bool // whether to gzip streaming lists

	conns   sync.Map // the keys are the net.Conns of the server's own listener and of all WebSockets
	serving sync.WaitGroup
}

// Start starts a server with an empty cluster. opts may be nil.
func Start(opts *Options) (*Server, error) {
	s := &Server{
		log:      revlog.New[*object](),
		changed:  make(chan struct{}),
		inflight: map[*inflight]struct{}{},
	}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	s.addResources()
	ln := s.opts.Listener
	if ln == nil {
		var err error
		if ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("start the test API server: %w", err)
		}
	}
	s.addr = ln.Addr().String()
	s.URL = "http://" + s.addr
	s.serve(ln)
	return s, nil
}

// addResources adds the resources in the options, or the built-in resources if Options.Resources is nil.
func (s *Server) addResources() {
	own := builtins()
	for i := range own {
		if own[i].setDefaults(); s.opts.Resources == nil {
			s.resources = append(s.resources, &own[i])
		}
	}
	for _, r := range s.opts.Resources {
		r.setDefaults()
		i := slices.IndexFunc(own, func(b Resource) bool { return b.id() == r.id() && b.Version == r.Version })
		if i >= 0 {
			s.resources = append(s.resources, &own[i])
		} else {
			s.AddResource(r)
		}
	}
}

func (o *Options) setDefaults() {
	o.BookmarkInterval = cmp.Or(o.BookmarkInterval, time.Minute)
	o.freshnessWait = cmp.Or(o.freshnessWait, 3*time.Second)
	o.History = cmp.Or(o.History, 100_000)
}

// revision returns the revision of the latest write. The revision of an empty cluster is 1.
func (s *Server) revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Revision()
}

func (s *Server) serve(ln net.Listener) {
	srv := &http.Server{Handler: s, ConnState: s.track}
	s.mu.Lock()
	s.http, s.down = srv, false
	s.mu.Unlock()
	s.serving.Go(func() { srv.Serve(ln) }) // returns when Close closes srv
}

// track adds new connections to s.conns, and removes closed and hijacked connections.
func (s *Server) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.serving.Add(1)
		s.conns.Store(conn, nil)
	case http.StateClosed, http.StateHijacked:
		if _, ok := s.conns.LoadAndDelete(conn); ok {
			s.serving.Done()
		}
	}
}
