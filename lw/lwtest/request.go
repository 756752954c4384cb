package lwtest

import (
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
