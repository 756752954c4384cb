package main

import (
	"context"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// client is the library's, with its engine and its scanner; the transport and the time are simulated.
type client struct {
	*player
	server *server
	way    time.Duration // to the server, and back again
	alive  bool          // a watch is open
	since  time.Duration // when it was opened
}

// slowest is how long a request is on its way at most.
const slowest = 5 * time.Millisecond

// follow follows the collection until it is all over.
func (c *client) follow(s scenario, random *rand.Rand) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	source, err := lw.NewClient(c, lw.Pods(""), lw.RawCodec{}, nil)
	measure.Must(err)
	opts := &lw.Options{
		NoStreamingList: s.plain,
		Now:             func() time.Time { return time.Unix(0, 0).Add(c.now) }, // nothing is waited for then but here
		Random:          random.Float64,
	}
	if s.noJitter {
		opts.Random = func() float64 { return 0 }
	}
	if s.saved > 0 {
		opts.ResumeFrom = strconv.Itoa(c.server.version() - s.saved)
	}
	for event := range lw.ListAndWatch(ctx, source, opts) {
		if c.over {
			return
		}
		switch event.Type {
		case lw.Live:
			c.alive, c.since = true, c.now
		case lw.Interrupted:
			c.alive = false
			delay := event.Break.Delay
			if event.Break.Err == lw.ErrWatchClosed {
				delay += time.Duration(random.Float64() * float64(s.pause))
			}
			c.sleep(delay)
		}
	}
}

// Open implements lw.Transport.
func (c *client) Open(_ context.Context, req *lw.Request) (io.ReadCloser, error) {
	c.sleep(c.way)
	var got answer
	r := requestOf(req)
	r.reply = func(a answer) {
		got = a
		c.after(c.way, c.resume)
	}
	c.server.receive(r)
	c.wait()
	switch {
	case c.over:
		return nil, context.Canceled
	case got.err != nil:
		return nil, got.err
	}
	if got.stream != nil {
		got.stream.client = c
	}
	return &body{strings.NewReader(got.text), c, got.stream}, nil
}

// body is a response's.
type body struct {
	*strings.Reader
	client *client
	stream *stream // nil for a list
}

func (b *body) Read(p []byte) (int, error) {
	if b.Len() > 0 || b.stream == nil {
		return b.Reader.Read(p)
	}
	if !b.stream.ended && !b.client.over {
		b.stream.waits = true
		b.client.wait()
	}
	if b.client.over {
		return 0, context.Canceled
	}
	return 0, b.stream.err
}

func (b *body) Close() error { return nil }
