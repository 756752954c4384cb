package recording

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ErrEnd reports that the recording contains no more data for a request.
var ErrEnd = errors.New("the recording ends here")

// RequestError reports a request that the recording does not contain.
type RequestError struct {
	Asked string   // for example "a watch of /api/v1/pods"
	Has   []string // all collections, or the next request
	Line  int      // line of the next request; 0 if the recording has no such collection
}

func (e *RequestError) Error() string {
	if e.Line == 0 {
		return "the recording has no requests for " + e.Asked + ": it has " + strings.Join(e.Has, ", ")
	}
	return "line " + strconv.Itoa(e.Line) + " of the recording is " + strings.Join(e.Has, ", ") + ", but lwcat requested " + e.Asked
}

// Over reports whether the recording cannot answer a request, so that a retry is useless.
func Over(err error) bool {
	_, request := errors.AsType[*RequestError](err)
	return request || errors.Is(err, ErrEnd)
}

// Player plays a recording once.
type Player struct {
	recording *Recording
	speed     float64
	played    atomic.Int64 // number of played frames
	startOnce sync.Once
	started   time.Time

	mu      sync.Mutex
	queues  map[string][]*stream   // remaining requests by key
	views   map[*Playback]position // positions of all open views
	changed chan struct{}          // closed and replaced when a view changes
}

// Play returns a player that plays the recording at a multiple of its speed, or without delays if speed is 0. Time
// starts with the first request.
func (r *Recording) Play(speed float64) *Player {
	p := &Player{recording: r, speed: speed, queues: map[string][]*stream{}, views: map[*Playback]position{}, changed: make(chan struct{})}
	for _, s := range r.streams {
		key := requestKey(s.path, s.query)
		p.queues[key] = append(p.queues[key], s)
	}
	return p
}

// Frames returns the number of frames played so far.
func (p *Player) Frames() int { return int(p.played.Load()) }

// requestKey returns the path and the query parameters that select the objects and their format.
func requestKey(path, query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return path + "?" + query
	}
	for _, name := range []string{
		"watch", "sendInitialEvents", "allowWatchBookmarks", "resourceVersion", "resourceVersionMatch", "limit", "continue",
		"timeoutSeconds", "pretty",
	} {
		values.Del(name)
	}
	return strings.TrimSuffix(path+"?"+values.Encode(), "?")
}

// requestKind describes a request in error messages.
func requestKind(watch bool, query string) string {
	switch {
	case watch && strings.Contains(query, "sendInitialEvents=true"):
		return "a streaming list"
	case watch:
		return "a watch"
	}
	return "a list"
}

// take removes the next recorded request with the same path and query.
func (p *Player) take(req *lw.Request) (s *stream, last bool, err error) {
	key, asked := requestKey(req.Path, req.Query), requestKind(req.Watch, req.Query)
	p.mu.Lock()
	defer p.mu.Unlock()
	queue, known := p.queues[key]
	switch {
	case !known && p.recording.Broken != nil: // the request may follow the damaged line
		return nil, true, ErrEnd
	case !known:
		e := &RequestError{Asked: key}
		for has := range p.queues {
			e.Has = append(e.Has, has)
		}
		slices.Sort(e.Has)
		return nil, true, e
	case len(queue) == 0:
		return nil, true, ErrEnd
	}
	if has := requestKind(queue[0].watch, queue[0].query); has != asked {
		return nil, true, &RequestError{Asked: asked + " of " + key, Has: []string{has}, Line: queue[0].line}
	}
	p.queues[key] = queue[1:]
	return queue[0], len(queue) == 1, nil
}

// Now returns the recorded time of the last played entry. It is the time of the events in a replay.
func (c *Playback) Now() time.Time {
	return c.player.recording.Start.Add(time.Duration(c.reached.Load()))
}

// Open implements [lw.Transport]. It returns the recorded responses in order, even if a resourceVersion or a continue
// token differs from the recorded request. It returns [ErrEnd] at the end of the recording, and a *[RequestError] for
// other requests.
func (c *Playback) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	s, last, err := c.player.take(req)
	if err != nil {
		return nil, err
	}
	if !s.answered {
		return nil, ErrEnd
	}
	if err := c.wait(ctx, s.opened); err != nil {
		return nil, err
	}
	if s.rejected != nil {
		return nil, s.rejected.toError(closeError(last))
	}
	return &replayBody{ctx: ctx, view: c, stream: s, last: last}, nil
}

// errRecordedClose reports that the recorded run closed the request here.
var errRecordedClose = errors.New("the recorded run closed this request here")

// replayBody is a recorded response body.
type replayBody struct {
	ctx    context.Context
	view   *Playback
	stream *stream
	last   bool // whether this is the last request with its key
	next   int  // index of the next frame
	text   []byte
}

func (b *replayBody) Read(into []byte) (int, error) {
	for len(b.text) == 0 {
		if b.next == len(b.stream.frames) {
			return 0, b.endError()
		}
		frame := b.stream.frames[b.next]
		if err := b.view.wait(b.ctx, frame.at); err != nil {
			return 0, err
		}
		text, err := b.view.player.recording.text(frame)
		if err != nil {
			return 0, err
		}
		b.text = text
		b.next++
		b.view.player.played.Add(1)
	}
	n := copy(into, b.text)
	b.text = b.text[n:]
	return n, nil
}

// endError returns the error that ends the body.
func (b *replayBody) endError() error {
	if !b.stream.closed {
		return ErrEnd
	}
	if err := b.view.wait(b.ctx, b.stream.end); err != nil {
		return err
	}
	if b.stream.failure == nil {
		return io.EOF
	}
	return b.stream.failure.toError(closeError(b.last))
}

// closeError returns the error for a request that the recorded run closed itself. last reports whether this is the last
// request with its key.
func closeError(last bool) error {
	if last {
		return ErrEnd
	}
	return errRecordedClose
}

func (b *replayBody) Close() error { return nil }
