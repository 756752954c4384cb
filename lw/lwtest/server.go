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

// Options of [Start]. The zero value of a field is its default.
type Options struct {
	// Addr is where to listen, "host:port". Default: a free port of 127.0.0.1.
	Addr string
	// Listener brings the connections in place of one at Addr: in memory, for example, as within a bubble of
	// testing/synctest, where no socket may be. Restart does not bring it back.
	Listener net.Listener
	// Resources are served besides the built-in ones, as by AddResource.
	Resources []Resource
	// OnlyResources leaves out those built-in ones that Resources does not name.
	OnlyResources bool
	// Tokens are the bearer tokens that are known and what each may do. With nil nobody is asked for a token.
	Tokens map[string]Access
	// AllowedOrigins are those whose pages may ask over fetch, as "http://127.0.0.1:8080"; WebSockets may come from
	// anywhere. Default none.
	AllowedOrigins []string
	// BookmarkInterval is the time between bookmarks of a watch that allows them. Default one minute.
	BookmarkInterval time.Duration
	// FreshnessWait is how long a request for a resource version of the future waits for it before it is refused. Default 3
	// s.
	FreshnessWait time.Duration
	// NoStreamingLists refuses sendInitialEvents, as servers before Kubernetes 1.32 do.
	NoStreamingLists bool
	// History is how many revisions are kept before the oldest are compacted away. Default 100,000.
	History int64
}

// Access is what a token may do. Its value names the user in messages.
type Access string

// The kinds of access.
const (
	FullAccess Access = "admin"  // everything
	NoAccess   Access = "nobody" // known, but refused with 403
)

// Server is a list-watch API server. Its methods may be called at any time and from any goroutine.
type Server struct {
	// URL is where the server listens: "http://127.0.0.1:40123". Behind a listener of your own use that one's.
	URL string

	opts Options
	addr string

	mu        sync.Mutex
	log       *revlog.Log[*object]
	resources []*Resource
	changed   chan struct{} // closed and replaced when the log changes, or stalled does
	stalled   bool
	down      bool
	inflight  map[*inflight]struct{}
	faults    []*fault
	requests  []Request
	http      *http.Server

	compresses atomic.Bool // streaming lists

	conns   sync.Map // net.Conn → nil, those of the own listener and all WebSockets
	serving sync.WaitGroup
}

// Start serves an empty cluster. Nil options are all defaults.
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
		if ln, err = net.Listen("tcp", s.opts.Addr); err != nil {
			return nil, fmt.Errorf("start the test API server: %w", err)
		}
	}
	s.addr = ln.Addr().String()
	s.URL = "http://" + s.addr
	s.serve(ln)
	return s, nil
}

// addResources adds those that the server has from the beginning.
func (s *Server) addResources() {
	own := builtins()
	for i := range own {
		if own[i].setDefaults(); !s.opts.OnlyResources {
			s.resources = append(s.resources, &own[i])
		}
	}
	for _, r := range s.opts.Resources {
		r.setDefaults()
		i := slices.IndexFunc(own, func(b Resource) bool { return b.id() == r.id() && b.Version == r.Version })
		if i >= 0 && s.opts.OnlyResources {
			s.resources = append(s.resources, &own[i])
		} else {
			s.AddResource(r)
		}
	}
}

func (o *Options) setDefaults() {
	o.Addr = cmp.Or(o.Addr, "127.0.0.1:0")
	o.BookmarkInterval = cmp.Or(o.BookmarkInterval, time.Minute)
	o.FreshnessWait = cmp.Or(o.FreshnessWait, 3*time.Second)
	o.History = cmp.Or(o.History, 100_000)
}

// Close ends all requests and the listener and waits for both. The server is of no use afterwards.
func (s *Server) Close() { s.Stop() }

// Revision is the revision of the latest write, the number in its object's resourceVersion. An empty cluster is at 1.
func (s *Server) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Revision()
}

func (s *Server) serve(ln net.Listener) {
	srv := &http.Server{Handler: s, ConnState: s.track}
	s.mu.Lock()
	s.http, s.down = srv, false
	s.mu.Unlock()
	s.serving.Go(func() { srv.Serve(ln) }) // returns when Stop closes srv
}

// track counts connections from their first moment to their last, or to when they become WebSockets.
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
