package lwtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// Options configures [Start]. Zero fields get defaults.
type Options struct {
	// Listener accepts the connections. The default listens on a free port of 127.0.0.1. Use an in-memory listener for
	// tests with testing/synctest, which cannot use sockets. [Server.Restart] can reopen only a TCP listener.
	Listener net.Listener
	// Tokens contains the valid bearer tokens. If the value of a token is true, its user may send all requests. If the
	// value is false, or if a request has no token, the server responds with 403. It responds to an unknown token with
	// 401. If Tokens is nil, requests need no token.
	Tokens map[string]bool
	// AllowedOrigins lists the origins whose web pages may use fetch, for example "http://127.0.0.1:8080". By default,
	// no origin is allowed. WebSockets may come from any origin.
	AllowedOrigins []string
	// BookmarkInterval is the time between the bookmarks of a watch. The default is one minute.
	BookmarkInterval time.Duration
	// NoStreamingLists rejects sendInitialEvents, like servers before Kubernetes 1.32.
	NoStreamingLists bool
	// CompressStreamingLists compresses streaming lists for clients that accept gzip. Like Kubernetes 1.37, the server
	// writes a separate gzip member for each flush. Chromium reads only the first member and silently drops the others.
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
	addr string // address of the listener, which Restart opens again

	mu        sync.Mutex // protects the following fields
	log       *revlog.Log[*object]
	resources []*resource
	changed   chan struct{} // closed and replaced when `log` or `stalled` changes
	stalled   bool          // set by StallWatches
	down      bool          // true from Close to Restart
	inflight  map[*inflight]struct{}
	faults    []*fault
	requests  []Request // the latest requests, oldest first
	http      *http.Server

	conns   sync.Map       // the keys are the connections that the server's own listener accepted, and the connections of all WebSockets
	serving sync.WaitGroup // counts the listener, its connections and the WebSockets; Close waits until all of them have ended
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
	s.opts.BookmarkInterval = cmp.Or(s.opts.BookmarkInterval, time.Minute)
	s.opts.freshnessWait = cmp.Or(s.opts.freshnessWait, 3*time.Second) // as in kube-apiserver
	s.opts.history = cmp.Or(s.opts.history, 100_000)                   // limits the memory of a long-running server
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

func (s *Server) revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Revision()
}

func (s *Server) isStalled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stalled
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

// Request is a request that the server received. It has no Body.
type Request struct {
	*http.Request
	Verb string // "list", "watch", "get", "create", "update", "patch", "delete", or "" for other paths such as discovery
}

// Lists reports whether r is a LIST request, for the first page or a later page. Pass it to [Server.Requests],
// [Server.Open] or [Server.Fail].
func Lists(r Request) bool { return r.Verb == "list" }

// Watches reports whether r is a WATCH request. Use it in the same way as [Lists].
func Watches(r Request) bool { return r.Verb == "watch" }

// maxRequests limits the memory that recorded requests take in a long-running server.
const maxRequests = 10_000

// Requests returns the matching requests in order of arrival, among the latest 9,000 to 10,000. A nil match selects all
// requests.
func (s *Server) Requests(match func(Request) bool) []Request {
	s.mu.Lock()
	all := slices.Clone(s.requests)
	s.mu.Unlock()
	return slices.DeleteFunc(all, func(r Request) bool { return !matches(match, r) })
}

// Open returns the matching requests that are still in progress, in no particular order. A nil match selects all
// requests. If a client disconnects, its requests stay open until the server notices.
func (s *Server) Open(match func(Request) bool) []Request {
	var open []Request
	for _, in := range s.underWay() {
		if matches(match, in.request) {
			open = append(open, in.request)
		}
	}
	return open
}

func matches(match func(Request) bool, r Request) bool { return match == nil || match(r) }

// record stores a request for [Server.Requests]. It returns the Fault to apply to the request, or nil if no Fault
// matches.
func (s *Server) record(req Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == maxRequests {
		// Drop many requests at once, because each deletion moves all remaining requests.
		s.requests = slices.Delete(s.requests, 0, maxRequests/10)
	}
	s.requests = append(s.requests, req)
	return s.takeFault(req)
}

// The server cancels request contexts with one of these causes.
var (
	errDropped       = errors.New("lwtest: the connection was dropped")
	errWatchesClosed = errors.New("lwtest: the watches were closed")
)

// inflight is a request in progress, which the server can cancel.
type inflight struct {
	request Request
	cancel  context.CancelCauseFunc
}

// begin registers a request. The returned context is canceled when the client disconnects or when the server cancels
// the request. If the server cancels it, context.Cause returns the reason, for example errDropped.
func (s *Server) begin(r *http.Request, request Request) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	in := &inflight{request: request, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Once s.down is set, Close may already have collected the requests to cancel and may be waiting for s.serving. So a
	// late request is canceled here and is not added to s.serving.
	if s.down {
		cancel(errDropped)
	}
	tracked := !s.down && isWebSocket(r) // s.serving counts WebSockets, because net/http does not track hijacked connections
	if tracked {
		s.serving.Add(1)
	}
	s.inflight[in] = struct{}{}
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inflight, in)
		if tracked {
			s.serving.Done()
		}
	}
}

func (s *Server) underWay() []*inflight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.inflight))
}

// wrote compacts the history and wakes the watches. Call it after each write of an object, with s.mu held.
func (s *Server) wrote() {
	s.log.Compact(s.log.Revision() - s.opts.history)
	s.wake()
}

// wake notifies all goroutines that wait for a change. The caller must hold s.mu.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await blocks until ready returns true, ctx is done or the time d has passed. It reports whether ready returned true.
// It calls ready at the start and after each change of the log or of s.stalled, and holds s.mu during these calls.
func (s *Server) await(ctx context.Context, d time.Duration, ready func() bool) bool {
	var timer *time.Timer // created only if await has to wait
	for {
		s.mu.Lock()
		done, changed := ready(), s.changed
		s.mu.Unlock()
		if done || ctx.Err() != nil {
			return done
		}
		if timer == nil {
			timer = time.NewTimer(d)
			defer timer.Stop()
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// waitFor blocks until the server reaches a revision. After Options.freshnessWait it returns a ResourceVersionTooLarge
// error.
func (s *Server) waitFor(ctx context.Context, revision int64) error {
	var current int64
	reached := func() bool { current = s.log.Revision(); return current >= revision }
	switch {
	case s.await(ctx, s.opts.freshnessWait, reached):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return tooLarge(revision, current)
}

// unstalled blocks while watches are stalled. It returns false if ctx is canceled.
func (s *Server) unstalled(ctx context.Context) bool {
	return s.await(ctx, math.MaxInt64, func() bool { return !s.stalled }) && ctx.Err() == nil
}

// Compact expires all resourceVersions before the latest. Open watches that are up to date continue. All other watches
// end cleanly, without an ERROR event.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Compact(s.log.Revision())
	s.wake()
}

// CloseWatches ends all open watches cleanly, as kube-apiserver does from time to time.
func (s *Server) CloseWatches() {
	for _, request := range s.underWay() {
		if Watches(request.request) {
			request.cancel(errWatchesClosed)
		}
	}
}

// StallWatches(true) silences all open and future watches, like a half-open connection. A silent watch stays open even
// after its timeout. It sends no events or bookmarks and does not answer WebSocket pings. StallWatches(false) resumes
// the watches, which then send all missed events.
func (s *Server) StallWatches(stall bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = stall
	s.wake()
}

// DropConnections resets all open connections. The server accepts new connections immediately. If the server runs
// behind another listener, idle connections stay open.
func (s *Server) DropConnections() {
	// First collect all requests and connections. A client may reconnect while they are being dropped, and its new
	// connection must stay open.
	requests := s.underWay()
	var conns []net.Conn
	s.conns.Range(func(conn, _ any) bool {
		conns = append(conns, conn.(net.Conn))
		return true
	})
	for _, conn := range conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // makes Close send RST instead of FIN
		}
		conn.Close()
	}
	for _, request := range requests {
		request.cancel(errDropped)
	}
}

// Close closes the listener and all connections, as in a crash. It returns when all requests have ended, except HTTP
// requests behind another listener, which it only cancels. The data stays, and methods such as [Server.Put] still work.
// [Server.Restart] starts the server again.
func (s *Server) Close() {
	s.mu.Lock()
	s.down = true
	srv := s.http
	s.mu.Unlock()
	srv.Close() // closes the listener first, so clients cannot reconnect
	s.conns.Range(func(conn, _ any) bool {
		conn.(net.Conn).Close() // closes the WebSockets too, which srv does not track
		return true
	})
	for _, request := range s.underWay() {
		request.cancel(errDropped)
	}
	s.serving.Wait()
}

// Restart starts a closed server on the same port. As after a real restart, the watch cache is empty, so all older
// resourceVersions have expired. Restart fails if the server is running or if the port stays in use for 5 seconds.
func (s *Server) Restart() error {
	s.mu.Lock()
	running := !s.down
	s.mu.Unlock()
	if running {
		return errors.New("restart the test API server: it is still running (call Close first)")
	}
	s.Compact()
	deadline := time.Now().Add(5 * time.Second)
	for {
		ln, err := net.Listen("tcp", s.addr)
		if err == nil {
			s.serve(ln)
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("restart the test API server: %w", err)
		}
		time.Sleep(10 * time.Millisecond) // a client's ephemeral port can block the address briefly
	}
}
