package hostile

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Server plays a [Scenario] with its own ConfigMaps. It is an [http.Handler] and, in memory, an
// [http.RoundTripper].
type Server struct {
	*World
	serve step // Scenario.serve
	lists bool // Scenario.Lists

	honest          atomic.Bool                     // the server has stopped its misbehavior
	mustList        atomic.Bool                     // watches return 410 until the next list; see Behave
	open            atomic.Int64                    // requests in progress; see Open
	watches, listed atomic.Int64                    // numbers of watches, and of lists and pages
	up              atomic.Pointer[context.Context] // done while the server is unreachable

	// Log is called for each request, also while the server is unreachable. Set it before the first request, or leave it nil.
	Log func(r *http.Request)

	// Cut breaks all connections. The server is unreachable until Resume is called.
	Cut context.CancelFunc
}

// comeUp makes the server reachable until Cut is called.
func (s *Server) comeUp() {
	ctx, cut := context.WithCancel(context.Background())
	s.Cut = cut
	s.up.Store(&ctx)
}

// Start returns a server that plays the scenario.
func (s *Scenario) Start() *Server {
	server := &Server{World: newWorld(s.Seed, s.format), serve: s.serve, lists: s.Lists}
	server.comeUp()
	return server
}

// Behave ends the misbehavior. If relist is set, watches return 410 until the next list, so that a client replaces any
// wrong data that it has accepted.
func (s *Server) Behave(relist bool) {
	s.mustList.Store(relist)
	s.honest.Store(true)
}

// Behaves reports whether Behave has been called.
func (s *Server) Behaves() bool { return s.honest.Load() }

// Open returns zero if no request is in progress, and otherwise a positive number. Tests use it to find requests that a
// client has leaked.
func (s *Server) Open() int { return int(s.open.Load()) }

// call is a request and its response. Only the goroutine that handles the request may use it.
type call struct {
	*Server
	request *http.Request
	w       http.ResponseWriter
	q       url.Values // the query
	watch   bool       // the request is a watch or a streaming list
	nth     int        // number of the list or watch, from 1; lists and watches are counted separately
	from    int        // revision of a streaming list, or else of the requested resourceVersion
	sent    int        // revision up to which the watch has sent all changes
	ctx     context.Context
	cancel  context.CancelFunc
	begun   bool     // the header was sent
	conn    net.Conn // the connection of a WebSocket or of a raw step, or nil
	edit    edit     // changes each text while the server misbehaves; may be nil
}

// A step panics with errStopped to end the response cleanly, or with http.ErrAbortHandler to break the connection. The
// panic skips all later steps of the call.
var errStopped = errors.New("the response has ended")

// ServeHTTP implements [http.Handler]. It serves the same ConfigMaps at every path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.respond(w, r) {
		panic(http.ErrAbortHandler)
	}
}

// respond handles a request and reports whether the response is complete. If not, the connection must break.
func (s *Server) respond(w http.ResponseWriter, r *http.Request) (complete bool) {
	if s.Log != nil {
		s.Log(r)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &call{Server: s, request: r, w: w, q: r.URL.Query(), ctx: ctx, cancel: cancel}
	s.open.Add(1)
	defer s.open.Add(-1)
	defer func() { complete = c.end(recover()) }()
	up := *s.up.Load()
	defer context.AfterFunc(up, func() {
		cancel()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // ends a write that a slow client blocks
	})()
	if up.Err() != nil {
		abort(c)
	}
	if s.lists && c.streaming() {
		c.reject(http.StatusUnprocessableEntity, "", Status(422, "Invalid", "no streaming lists", ""))
	}
	if limit, err := strconv.Atoi(c.q.Get("limit")); s.lists && err == nil {
		c.q.Set("limit", strconv.Itoa(min(limit, pageSize)))
	}
	c.from = c.requested()
	count := &s.listed
	if c.watch = c.q.Get("watch") != ""; c.watch {
		count = &s.watches
	}
	if c.nth = int(count.Add(1)); s.honest.Load() {
		correct(c)
	} else {
		s.serve(c)
	}
	return true
}

// end ends the response after its handler has returned, or has panicked with reason. It reports whether the response
// is complete.
func (c *call) end(reason any) (complete bool) {
	switch reason {
	case nil, errStopped:
		begin(c)
		complete = true
	case http.ErrAbortHandler:
	default:
		panic(reason)
	}
	if c.conn != nil {
		if complete {
			_, _ = io.WriteString(c.conn, encodeFrame(8, "\x03\xe8")) // the close code 1000
		}
		_ = c.conn.Close()
	}
	return complete
}

// start sends the response's header, unless it was sent before.
func (c *call) start(code int) {
	if c.begun {
		return
	}
	c.begun = true
	if code == http.StatusOK && c.watch && c.request.Header.Get("Upgrade") != "" {
		c.hijack()
		c.say(handshake(c.request))
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(code)
	c.flush()
}

// flush does nothing in memory, where bytes reach the client at once.
func (c *call) flush() { _ = http.NewResponseController(c.w).Flush() }

// write sends texts. While the server misbehaves, c.edit changes them first.
func (c *call) write(texts ...string) {
	for _, text := range texts {
		if c.edit != nil && !c.honest.Load() {
			text = c.edit(c, text)
		}
		if text != "" {
			c.send(text)
		}
	}
}

// send sends a text unchanged. Over WebSocket, it becomes a message.
func (c *call) send(text string) {
	begin(c)
	if c.conn != nil {
		c.say(encodeFrame(1, text))
		return
	}
	if _, err := io.WriteString(c.w, text); err != nil {
		abort(c)
	}
	c.flush()
}

// reject sends an error response and ends the call.
func (c *call) reject(code int, retryAfter, text string) {
	if retryAfter != "" {
		c.w.Header().Set("Retry-After", retryAfter)
	}
	c.start(code)
	c.send(text)
	stop(c)
}

func (c *call) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
		abort(c)
	}
}
