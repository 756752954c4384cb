package servers

import (
	"context"
	"errors"
	"io"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

var errReset = errors.New("connection reset by peer")

// memory is an [lw.Transport] to a server in the same process. The server handles each request in its own goroutine.
type memory struct {
	*world
	serve          func(*call)
	honest         atomic.Bool // the server has stopped its misbehavior
	mustList       atomic.Bool // watches return 410 until the next list
	open           atomic.Int64
	watches, lists atomic.Int64

	rewrite func(text string) string // changes each response; may be nil
	down    atomic.Bool              // connections are refused
	cutMu   sync.Mutex
	cuts    map[*io.PipeWriter]struct{} // responses in progress
}

// cut breaks all connections, and refuses further ones until m.down is false.
func (m *memory) cut() {
	m.down.Store(true)
	m.cutMu.Lock()
	defer m.cutMu.Unlock()
	for writer := range m.cuts {
		_ = writer.CloseWithError(errReset)
	}
}

// call is a request over a memory transport. Only the goroutine that handles the request may use it. A method that ends
// the response also ends this goroutine.
type call struct {
	*memory
	path   string
	q      url.Values
	watch  bool
	nth    int // number of the list or watch, from 1; lists and watches are counted separately
	ctx    context.Context
	pipe   *io.PipeWriter
	answer chan error
	once   sync.Once
	edit   func(c *call, change change, event string) string // returns the line to send for a watch event; may be nil
}

type body struct {
	*io.PipeReader
	close func()
}

func (b body) Close() error {
	b.close()
	return b.PipeReader.Close()
}

func (m *memory) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	q, err := url.ParseQuery(req.Query)
	if err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	if m.down.Load() {
		return nil, errReset
	}
	reader, writer := io.Pipe()
	m.cutMu.Lock()
	if m.cuts == nil {
		m.cuts = map[*io.PipeWriter]struct{}{}
	}
	m.cuts[writer] = struct{}{}
	m.cutMu.Unlock()
	inner, cancel := context.WithCancel(ctx)
	c := &call{memory: m, path: req.Path, q: q, watch: q.Get("watch") != "", ctx: inner, pipe: writer, answer: make(chan error, 1)}
	count := &m.lists
	if c.watch {
		count = &m.watches
	}
	c.nth = int(count.Add(1))
	m.open.Add(1)
	left := sync.OnceFunc(func() {
		cancel()
		m.open.Add(-1)
		m.cutMu.Lock()
		delete(m.cuts, writer)
		m.cutMu.Unlock()
	})
	context.AfterFunc(ctx, func() { _ = writer.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer func() {
			c.begin()
			_ = writer.Close()
		}()
		if m.honest.Load() {
			c.honestly()
		} else {
			m.serve(c)
		}
	}()
	select {
	case err = <-c.answer:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		left()
		return nil, err
	}
	return &lw.Response{ReadCloser: body{reader, left}}, nil
}

// begin starts the response with status 200.
func (c *call) begin() { c.once.Do(func() { c.answer <- nil }) }

// reject sends an error response and ends the goroutine.
func (c *call) reject(code int, retryAfter, text string) {
	c.fail(&rejection{lw.ReadStatusError(code, retryAfter, strings.NewReader(text)), code, retryAfter, text})
}

// rejection is the error of Open for an error response. It also holds the response's fields.
type rejection struct {
	error
	code             int
	retryAfter, text string
}

func (r *rejection) Unwrap() error { return r.error }

// fail breaks the connection with err and ends the goroutine.
func (c *call) fail(err error) {
	c.once.Do(func() { c.answer <- err })
	_ = c.pipe.CloseWithError(err)
	runtime.Goexit()
}

func (c *call) write(texts ...string) {
	c.begin()
	for _, text := range texts {
		if c.rewrite != nil {
			text = c.rewrite(text)
		}
		if _, err := io.WriteString(c.pipe, text); err != nil {
			runtime.Goexit()
		}
	}
}

// drip writes text with a pause after each byte. When the server stops its misbehavior, drip returns the rest.
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

func (c *call) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
		runtime.Goexit()
	}
}

// stop ends the response cleanly and ends the goroutine.
func (c *call) stop() { runtime.Goexit() }

// hang blocks until the client cancels the request.
func (c *call) hang() {
	<-c.ctx.Done()
	runtime.Goexit()
}
