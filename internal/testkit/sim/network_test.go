package sim

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

var errOver = errors.New("the simulation is over")

// query contains the query parameters of a request.
type query struct {
	watch, streams bool
	version, token string
	limit          int
	timeout        time.Duration
}

func parse(req *lw.Request) query {
	values, err := url.ParseQuery(req.Query)
	if err != nil {
		panic(err)
	}
	limit, _ := strconv.Atoi(values.Get("limit"))
	timeout, _ := strconv.Atoi(values.Get("timeoutSeconds"))
	return query{
		watch:   values.Get("watch") == "1",
		streams: values.Get("sendInitialEvents") == "true",
		version: values.Get("resourceVersion"),
		token:   values.Get("continue"),
		limit:   limit,
		timeout: time.Duration(timeout) * time.Second,
	}
}

// conn is a request and its response.
type conn struct {
	*sim
	query
	ctx     context.Context
	of      *incarnation // history of the server's data when the request was sent
	replica *replica     // API server that receives the request
	open    bool         // the engine has the response and has not closed it
	stream  *stream      // server side of a watch; nil after the server has ended the watch
	pending string       // bytes that the server has sent and the engine has not read
	ended   bool         // the response ends after the pending bytes
	sent    int          // number of bytes that the engine has read

	fault     fault     // fault to inject
	at        int       // number of bytes that the engine reads before the fault; negative if there is no fault
	broken    error     // error that Read returns because the connection broke, or nil
	silent    bool      // the connection is half-open
	until     time.Time // bytes arrive only after this time
	throttled int       // number of reads that return only a few bytes

	cause       cause      // why the request ended
	rejection   *rejection // the server's error, or nil
	line        string     // start of an incomplete line
	highest     int64      // highest resourceVersion of the watch's events
	marked      bool       // the engine has read the initial-events-end bookmark
	unversioned bool       // the response is a list without a resourceVersion
	early       bool       // the initial-events-end bookmark came before objects of the list
	regressed   bool       // an event had a lower resourceVersion than the previous event
	revision    int64      // resourceVersion of a list
	keys        []string   // object keys on a page of a list
	foreign     bool       // the body is not a list of the requested collection
}

// isList reports whether the request is for a page of an ordinary list.
func (q query) isList() bool { return !q.watch && !q.isCheck() }

// isCheck reports whether the request only checks the collection's resourceVersion. Such a request has limit 1,
// which lists never use.
func (q query) isCheck() bool { return !q.watch && q.limit == 1 && q.version == "" && q.token == "" }

func (s *sim) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	c := &conn{sim: s, query: parse(req), ctx: ctx, at: -1}
	c.highest = number(c.version)
	s.check.asked(c.query)
	s.check.previous = c
	s.trace("→ %s", req.Query)
	body, err := c.answer()
	if err != nil {
		return nil, c.failed(err)
	}
	s.trace("← 200, %d bytes%s", len(c.pending), c.fate())
	return &lw.Response{ReadCloser: body}, nil
}

// failed records why a request has no response and returns the error for the engine.
func (c *conn) failed(err error) error {
	response, ok := err.(*rejection)
	switch {
	case c.ctx.Err() != nil:
		c.ends(silent)
		err = context.Cause(c.ctx)
	case ok:
		c.ends(rejected)
		c.rejection = response
		err = response.statusError()
	default:
		c.ends(connected)
	}
	c.trace("← %v", err)
	return err
}

// answer waits for the response header and returns c. It returns an error if there is no response.
func (c *conn) answer() (*conn, error) {
	s := c.sim
	s.conn = c
	s.pass(c.ctx, time.Now().Add(s.upTo(50*time.Millisecond)))
	if s.strikes(noAnswer, 10*s.trouble) {
		for c.ctx.Err() == nil && s.failure == nil {
			s.pass(c.ctx, time.Now().Add(time.Hour))
		}
	}
	if c.ctx.Err() != nil || s.over() {
		return nil, errOver
	}
	if err := s.badLuck(c); err != nil {
		return nil, err
	}
	c.replica, c.of = s.replicas[s.IntN(len(s.replicas))], s.now
	if err := c.serve(); err != nil {
		return nil, err
	}
	s.spoil(c)
	if c.ctx.Err() != nil {
		return nil, errOver
	}
	c.open = true
	s.check.answered()
	return c, nil
}

// serve passes the request to the server and stores the response in c.
func (c *conn) serve() (err error) {
	if c.watch {
		c.stream, err = c.server.watch(c.query, c.replica, time.Now())
		return err
	}
	body, revision, late, err := c.list(c.query, c.replica)
	c.unversioned = c.habit == unversionedLists
	if late {
		c.pass(c.ctx, time.Now().Add(3*time.Second+c.upTo(time.Second)))
	}
	c.pending, c.ended, c.revision, c.keys = body, true, revision, slices.Clone(c.server.keys)
	c.check.listed(c.query, c.of, revision)
	return err
}

// Read returns bytes that have arrived. If there are none, it lets simulated time pass until some arrive.
func (c *conn) Read(p []byte) (int, error) {
	c.check.reads(c)
	for {
		switch {
		case c.over():
			return 0, errOver
		case c.ctx.Err() != nil:
			c.ends(silent)
			return 0, context.Cause(c.ctx)
		case c.broken != nil:
			c.ends(connected)
			c.trace("← after %d bytes: %v", c.sent, c.broken)
			return 0, c.broken
		}
		now := time.Now()
		next := now.Add(time.Hour)
		if !c.silent && !c.until.After(now) {
			if c.stream != nil && !c.ended {
				var text string
				text, c.ended, next = c.stream.pump(now)
				c.pending += text
			}
			if c.sent == c.at {
				c.strike(now)
				continue
			}
			if c.pending != "" {
				return c.deliver(p), nil
			}
			if c.ended {
				c.atEnd()
				c.trace("← after %d bytes: end", c.sent)
				return 0, io.EOF
			}
		}
		c.pass(c.ctx, earliest(next, later(c.until, now)))
	}
}

// deliver copies pending bytes to p and returns the number of bytes copied. It stops before the next fault.
func (c *conn) deliver(p []byte) int {
	n := min(len(p), len(c.pending))
	if c.at > c.sent {
		n = min(n, c.at-c.sent)
	}
	if c.oneIn(3) {
		n = 1 + c.IntN(n)
	}
	if c.throttled > 0 && !c.calm {
		c.throttled--
		n = min(n, 1+c.IntN(3))
		c.until = time.Now().Add(c.upTo(300 * time.Millisecond))
	}
	copy(p, c.pending[:n])
	c.inspect(c.pending[:n])
	c.pending = c.pending[n:]
	c.sent += n
	c.check.delivered()
	return n
}

func (c *conn) Close() error {
	c.open = false
	return nil
}

// later returns t if it is after now, otherwise the zero time.
func later(t, now time.Time) time.Time {
	if t.After(now) {
		return t
	}
	return time.Time{}
}
