package hostile

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

var errReset = errors.New("connection reset by peer")

// Server plays a [Scenario] with its own ConfigMaps. It is an [http.Handler] and, in memory, an
// [http.RoundTripper].
type Server struct {
	*World
	serve   func(*call)
	lists   bool                     // Scenario.Lists
	rewrite func(text string) string // changes each part of a response; may be nil

	honest          atomic.Bool // the server has stopped its misbehavior
	mustList        atomic.Bool // watches return 410 until the next list
	open            atomic.Int64
	watches, listed atomic.Int64 // numbers of watches, and of lists and pages
	up              atomic.Pointer[uptime]
}

// uptime is a period in which the server is reachable. When it ends, all connections break.
type uptime struct {
	context.Context
	end context.CancelFunc
}

func (s *Server) comeUp() {
	ctx, end := context.WithCancel(context.Background())
	s.up.Store(&uptime{ctx, end})
}

// Start returns a server that plays the scenario. seed determines the random changes to the ConfigMaps.
func (s *Scenario) Start(seed uint64) *Server {
	server := &Server{World: newWorld(seed, s.naming, s.version), serve: s.serve, lists: s.Lists}
	server.comeUp()
	return server
}

// Behave ends the misbehavior. If relist is set, watches return 410 until the next list.
func (s *Server) Behave(relist bool) {
	s.mustList.Store(relist)
	s.honest.Store(true)
}

// Open returns the number of requests in progress.
func (s *Server) Open() int { return int(s.open.Load()) }

// Cut breaks all connections. The server is unreachable until [Server.Resume].
func (s *Server) Cut() { s.up.Load().end() }

// call is a request and its response. Only the goroutine that handles the request may use it.
type call struct {
	*Server
	request *http.Request
	w       http.ResponseWriter
	q       url.Values
	watch   bool
	nth     int // number of the list or watch, from 1; lists and watches are counted separately
	ctx     context.Context
	cancel  context.CancelFunc
	begun   bool
	socket  *socket                                           // nil if the watch does not use WebSocket
	edit    func(c *call, change change, event string) string // returns the text to send for a watch event; may be nil
}

// A call panics with errStopped to end its response cleanly, or with http.ErrAbortHandler to break the connection.
var errStopped = errors.New("the response has ended")

// ServeHTTP implements [http.Handler]. It serves the same ConfigMaps at every path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &call{Server: s, request: r, w: w, q: r.URL.Query(), ctx: ctx, cancel: cancel}
	c.watch = c.q.Get("watch") != ""
	s.open.Add(1)
	defer s.open.Add(-1)
	defer func() { c.end(recover()) }()
	up := s.up.Load()
	defer context.AfterFunc(up, cancel)()
	if up.Err() != nil {
		c.abort()
	}
	if s.lists && c.streaming() {
		c.reject(http.StatusUnprocessableEntity, "", Status(422, "Invalid", "no streaming lists", ""))
	}
	if limit, err := strconv.Atoi(c.q.Get("limit")); s.lists && err == nil {
		c.q.Set("limit", strconv.Itoa(min(limit, pageSize)))
	}
	count := &s.listed
	if c.watch {
		count = &s.watches
	}
	if c.nth = int(count.Add(1)); s.honest.Load() {
		c.honestly()
	} else {
		s.serve(c)
	}
}

// end ends the response after its handler has returned, or has panicked with reason.
func (c *call) end(reason any) {
	if reason == nil || reason == errStopped {
		c.begin()
	}
	if c.socket != nil {
		c.socket.end(reason != http.ErrAbortHandler)
		return
	}
	if reason != nil && reason != errStopped {
		panic(reason)
	}
}

// begin starts the response with status 200.
func (c *call) begin() {
	if c.begun {
		return
	}
	c.begun = true
	if c.watch && c.request.Header.Get("Upgrade") != "" {
		c.socket = c.upgrade()
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	c.flush()
}

func (c *call) flush() { _ = http.NewResponseController(c.w).Flush() }

func (c *call) write(texts ...string) {
	c.begin()
	for _, text := range texts {
		if c.rewrite != nil {
			text = c.rewrite(text)
		}
		var err error
		if c.socket != nil {
			err = c.socket.frame(1, text)
		} else if _, err = io.WriteString(c.w, text); err == nil {
			c.flush()
		}
		if err != nil {
			c.abort()
		}
	}
}

// reject sends an error response and ends the call.
func (c *call) reject(code int, retryAfter, text string) {
	c.begun = true
	if retryAfter != "" {
		c.w.Header().Set("Retry-After", retryAfter)
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(code)
	_, _ = io.WriteString(c.w, text)
	c.stop()
}

// abort breaks the connection and ends the call.
func (c *call) abort() { panic(http.ErrAbortHandler) }

// stop ends the response cleanly and ends the call.
func (c *call) stop() { panic(errStopped) }

// hang blocks until the client cancels the request.
func (c *call) hang() {
	<-c.ctx.Done()
	c.abort()
}

func (c *call) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
		c.abort()
	}
}

// drip writes text with a pause after each byte. If the server stops misbehaving, drip returns the rest.
func (c *call) drip(text string, pause time.Duration) (rest string) {
	for i := range len(text) {
		if c.honest.Load() {
			return text[i:]
		}
		c.write(text[i : i+1])
		c.sleep(pause)
	}
	return ""
}
