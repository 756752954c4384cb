package lwtest

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Request describes a request that the server received.
type Request struct {
	At     time.Time
	Verb   string // "list", "watch", "get", "create", "update", "patch", "delete", or "" for other paths such as discovery
	Method string
	URL    *url.URL // path and query only
	Header http.Header
}

// Lists reports whether r is a LIST request, for the first page or a later page. Pass it to [Server.Requests],
// [Server.Open] or [Server.Fail].
func Lists(r Request) bool { return r.Verb == "list" }

// Watches reports whether r is a WATCH request. Use it like [Lists].
func Watches(r Request) bool { return r.Verb == "watch" }

const maxRequests = 10_000

// Requests returns the matching requests among the latest 10,000, in order of arrival. A nil match selects all
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

func newRequest(r *http.Request, rt route) Request {
	u := *r.URL
	return Request{At: time.Now(), Verb: rt.verb, Method: r.Method, URL: &u, Header: r.Header.Clone()}
}

// record adds a request to the recorded requests. It returns the Fault to apply to the request, or nil if no Fault
// matches.
func (s *Server) record(req Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == maxRequests {
		s.requests = slices.Delete(s.requests, 0, maxRequests/10)
	}
	s.requests = append(s.requests, req)
	return s.takeFault(req)
}
