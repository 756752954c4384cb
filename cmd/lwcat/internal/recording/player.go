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

// ErrEnd says that the recording has nothing more of what is asked for.
var ErrEnd = errors.New("the recording ends here")

// RequestError says that the recording cannot answer a request.
type RequestError struct {
	Asked string   // as "a watch of /api/v1/pods"
	Has   []string // what there is instead: all collections, or the one request that is next
	Line  int      // where that stands; 0: the recording has nothing at all of what is asked for
}

func (e *RequestError) Error() string {
	if e.Line == 0 {
		return "the recording has no requests for " + e.Asked + ": it has " + strings.Join(e.Has, ", ")
	}
	return "the recording has " + strings.Join(e.Has, ", ") + " next, at line " + strconv.Itoa(e.Line) + ", where " + e.Asked + " is asked for"
}

// Over reports whether an error is a recording's end, or what it does not hold: there is no use in asking again.
func Over(err error) bool {
	_, request := errors.AsType[*RequestError](err)
	return request || errors.Is(err, ErrEnd)
}

// Player plays a recording once.
type Player struct {
	recording *Recording
	speed     float64
	played    atomic.Int64 // frames
	startOnce sync.Once
	started   time.Time

	mu      sync.Mutex
	queues  map[string][]*stream   // remaining requests by key
	views   map[*Playback]position // positions of the views that are played together
	changed chan struct{}          // closed and replaced after every change of a view
}

// Play returns a player. speed is how many times as fast as it was recorded; 0 waits for nothing. The time begins with the
// first request.
func (r *Recording) Play(speed float64) *Player {
	p := &Player{recording: r, speed: speed, queues: map[string][]*stream{}, views: map[*Playback]position{}, changed: make(chan struct{})}
	for _, s := range r.streams {
		key := requestKey(s.path, s.query)
		p.queues[key] = append(p.queues[key], s)
	}
	return p
}

// Frames is how many frames were played until now.
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
	case !known && p.recording.Broken != nil: // it may have been behind that
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

// Now returns the time at which the last played record was recorded. A replayed stream dates its events by it.
func (c *Playback) Now() time.Time {
	return c.player.recording.Start.Add(time.Duration(c.reached.Load()))
}

// Open implements [lw.Transport] by the recording, in its order: resource versions and continue tokens need not be those
// that were asked for then. Where it ends, the error is [ErrEnd]; what it does not hold is a *[RequestError].
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

// errRecordedClose reports that the recorded run stopped reading here.
var errRecordedClose = errors.New("the recorded run closed this request here")

// replayBody is a recorded response body.
type replayBody struct {
	ctx    context.Context
	view   *Playback
	stream *stream
	last   bool // no request of this key follows
	next   int  // frame
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

// closeError returns the error for a request that the recorded run closed itself.
func closeError(last bool) error {
	if last {
		return ErrEnd
	}
	return errRecordedClose
}

func (b *replayBody) Close() error { return nil }
