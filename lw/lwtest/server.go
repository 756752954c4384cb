package lwtest

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// Options configures [Start]. Zero fields get defaults.
type Options struct {
	// Listener accepts the connections. The default listens on a free port of 127.0.0.1. Use an in-memory listener for
	// tests with testing/synctest, which cannot use sockets. [Server.Restart] can reopen only a TCP listener.
	Listener net.Listener
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
	// CompressStreamingLists compresses streaming lists for clients that accept gzip. Like Kubernetes 1.37, the server
	// writes a separate gzip member for each flush. Chromium reads only the first member and reports no error.
	CompressStreamingLists bool
	// Revision is the resourceVersion of the empty cluster. All lower resourceVersions have expired. The default is 1.
	// If clients keep resourceVersions from one Server to the next, give the next Server a higher Revision.
	Revision int64

	history       int64         // number of revisions to keep; older revisions are compacted
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

	conns   sync.Map // the keys are the net.Conns of the server's own listener and of all WebSockets
	serving sync.WaitGroup
}

// Start starts a server with an empty cluster. opts may be nil.
func Start(opts *Options) (*Server, error) {
	s := &Server{
		log:      revlog.New[*object](),
		changed:  make(chan struct{}),
		inflight: map[*inflight]struct{}{}, resources: builtins(),
	}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	s.log.Advance(s.opts.Revision)
	s.log.Compact(s.opts.Revision)
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

func (o *Options) setDefaults() {
	o.BookmarkInterval = cmp.Or(o.BookmarkInterval, time.Minute)
	o.freshnessWait = cmp.Or(o.freshnessWait, 3*time.Second)
	o.history = cmp.Or(o.history, 100_000)
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
