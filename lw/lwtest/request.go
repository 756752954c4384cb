package lwtest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Request is one that the server received.
type Request struct {
	At     time.Time
	Verb   string // "list", "watch", "get", "create", "update", "patch", "delete"; "" for discovery and the like
	Method string
	URL    *url.URL // path and query only
	Header http.Header
}

// Match chooses among requests.
type Match func(Request) bool

// Any matches every request.
func Any(Request) bool { return true }

// Lists matches LIST requests, those for further pages included.
func Lists(r Request) bool { return r.Verb == "list" }

// Pages matches LIST requests for a page after the first.
func Pages(r Request) bool { return r.Verb == "list" && r.URL.Query().Get("continue") != "" }

// Watches matches WATCH requests.
func Watches(r Request) bool { return r.Verb == "watch" }

// maxRequests is how many requests are remembered.
const maxRequests = 10_000

// Requests returns the requests that match, in the order of their arrival, out of the latest 10,000.
func (s *Server) Requests(m Match) []Request {
	s.mu.Lock()
	all := slices.Clone(s.requests)
	s.mu.Unlock()
	return slices.DeleteFunc(all, func(r Request) bool { return !m(r) })
}

// Open returns the requests that match and are not answered to the end, in no order. A watch that nobody reads any more is
// gone from it as soon as the server learns of that.
func (s *Server) Open(m Match) []Request {
	var open []Request
	for _, in := range s.underWay() {
		if m(in.request) {
			open = append(open, in.request)
		}
	}
	return open
}

func newRequest(r *http.Request, rt route) Request {
	u := *r.URL
	return Request{At: time.Now(), Verb: rt.verb, Method: r.Method, URL: &u, Header: r.Header.Clone()}
}

// record remembers a request and takes the fault that is meant for it, if any.
func (s *Server) record(req Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == maxRequests {
		s.requests = slices.Delete(s.requests, 0, maxRequests/10)
	}
	s.requests = append(s.requests, req)
	return s.takeFault(req)
}

// Why a request that is under way is ended.
var (
	errDropped       = errors.New("lwtest: the connection was dropped")
	errWatchesClosed = errors.New("lwtest: the watches were closed")
)

type inflight struct {
	request Request
	cancel  context.CancelCauseFunc
}

// begin enters a request that is under way. Its context ends with the client's interest or for one of the errors above,
// which is its cause.
func (s *Server) begin(r *http.Request, request Request) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	in := &inflight{request: request, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		cancel(errDropped)
	}
	awaited := !s.down && isWebSocket(r) // nothing else makes Stop wait once net/http has given away the connection
	if awaited {
		s.serving.Add(1)
	}
	s.inflight[in] = struct{}{}
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inflight, in)
		if awaited {
			s.serving.Done()
		}
	}
}

// underWay is the requests that are so now.
func (s *Server) underWay() []*inflight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.inflight))
}

// wrote is called with s.mu held after every write to the log.
func (s *Server) wrote() {
	s.log.Compact(s.log.Revision() - s.opts.History)
	s.wake()
}

// wake makes everything that waits for the log look again. s.mu is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// waitFor waits up to Options.FreshnessWait for a revision and gives the refusal if it does not come.
func (s *Server) waitFor(ctx context.Context, revision int64) error {
	patience := time.NewTimer(s.opts.FreshnessWait)
	defer patience.Stop()
	for {
		s.mu.Lock()
		current, changed := s.log.Revision(), s.changed
		s.mu.Unlock()
		if current >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-patience.C:
			return tooLarge(revision, current)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
