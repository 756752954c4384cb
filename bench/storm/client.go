package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// client runs the engine and the scanner of lw on a simulated clock and network.
type client struct {
	*player
	server  backend
	latency time.Duration // one-way latency to the server
	alive   bool          // whether a watch is open
	since   time.Duration // time at which the latest watch was opened
}

// backend is a simulated server. It calls the reply function of each request, either at once or later in simulated
// time.
type backend interface {
	receive(*request)
}

// slowest is the maximum one-way latency of a client.
const slowest = 5 * time.Millisecond

// follow watches the Pods until the simulation ends.
func (c *client) follow(random *rand.Rand) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	source := harness.MustGet(lw.NewClient(c, lw.Pods(""), lw.RawCodec{}, nil))
	opts := &lw.Options{
		Logger: slog.New(slog.DiscardHandler),
		Random: random.Float64,
		Replay: func() time.Time { return time.Unix(0, 0).Add(c.now) }, // makes the engine skip its delays, which c.sleep simulates
	}
	for event := range lw.ListAndWatch(ctx, source, opts) {
		if c.over {
			return
		}
		switch event.Type {
		case lw.WatchStarted:
			c.alive, c.since = true, c.now
		case lw.Interrupted:
			c.alive = false
			c.sleep(event.Interruption.Delay)
		}
	}
}

// exchange sends a request and returns the response. Each direction takes c.latency.
func (c *client) exchange(r *request) (got answer) {
	c.sleep(c.latency)
	r.reply = func(a answer) {
		got = a
		c.after(c.latency, c.resume)
	}
	c.server.receive(r)
	c.wait()
	if c.over {
		return answer{err: context.Canceled}
	}
	if got.stream != nil {
		got.stream.client = c
	}
	return got
}

// ended blocks until the stream ends and returns the error that ended it. io.EOF means a clean close.
func (c *client) ended(s *stream) error {
	if !s.ended && !c.over {
		s.waits = true
		c.wait()
	}
	if c.over {
		return context.Canceled
	}
	return s.err
}

// Open implements lw.Transport.
func (c *client) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	got := c.exchange(requestOf(req))
	if got.err != nil {
		return nil, got.err
	}
	return &lw.Response{ReadCloser: &body{strings.NewReader(got.text), c, got.stream}}, nil
}

type body struct {
	*strings.Reader
	client *client
	stream *stream // nil for a list
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.Len() > 0 || b.stream == nil {
		return b.Reader.Read(p)
	}
	return 0, b.client.ended(b.stream)
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }
