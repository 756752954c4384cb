package recording

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ErrEnd reports that the recording contains no more data for a request.
var ErrEnd = errors.New("end of the recording")

var errRecordedClose = errors.New("the recorded run closed this request here")

// requestError reports a request that the recording does not contain.
type requestError string

func (e requestError) Error() string { return string(e) }

// Over reports whether err means that the recording has no response for a request, so that a retry is useless.
func Over(err error) bool {
	_, missing := errors.AsType[requestError](err)
	return missing || errors.Is(err, ErrEnd)
}

// Player plays a recording once.
type Player struct {
	recording *Recording
	speed     float64
	startOnce sync.Once
	started   time.Time

	mu      sync.Mutex
	queues  map[string][]*stream // remaining requests by key
	views   map[*Playback]int64  // offset of the entry that each open view processes or waits for
	changed chan struct{}        // closed and replaced when a view changes
}

// Play returns a player that plays the recording at a multiple of the original speed, or without delays if speed is 0.
// The clock starts with the first request.
func (r *Recording) Play(speed float64) *Player {
	p := &Player{recording: r, speed: speed, queues: map[string][]*stream{}, views: map[*Playback]int64{}, changed: make(chan struct{})}
	for _, s := range r.streams {
		key := requestKey(s.open.Path, s.open.Query)
		p.queues[key] = append(p.queues[key], s)
	}
	return p
}

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

// take removes and returns the next recorded request with the same path and query. last is true if no such request
// remains.
func (p *Player) take(req *lw.Request) (s *stream, last bool, err error) {
	key, asked := requestKey(req.Path, req.Query), requestKind(req.Watch, req.Query)
	p.mu.Lock()
	defer p.mu.Unlock()
	queue, known := p.queues[key]
	switch {
	case !known && p.recording.Broken == nil:
		return nil, true, requestError("the recording contains no requests for " + key + ", only for " + strings.Join(slices.Sorted(maps.Keys(p.queues)), ", "))
	case len(queue) == 0: // if the recording is damaged, the request may follow the damaged line
		return nil, true, ErrEnd
	}
	s = queue[0]
	if has := requestKind(s.open.Watch, s.open.Query); has != asked {
		return nil, true, requestError(fmt.Sprintf("line %d of the recording is %s, but lwcat requested %s of %s", s.line, has, asked, key))
	}
	p.queues[key] = queue[1:]
	return s, len(queue) == 1, nil
}

// Playback is a view of a player for one collection. It implements [lw.Transport] and tracks the recorded time. A view
// from [Player.Collection] is not safe for concurrent use.
type Playback struct {
	player  *Player
	reached atomic.Int64 // time of the last played entry
}

// Discovery returns a view for discovery requests. It does not wait for other views.
func (p *Player) Discovery() *Playback { return &Playback{player: p} }

// Collection returns a view for one collection. The caller must close it. A view waits until all other views have
// processed the earlier entries. Create all views before using the first one.
func (p *Player) Collection() *Playback {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &Playback{player: p}
	p.views[c] = 0
	return c
}

// Close closes a view, so that other views no longer wait for it.
func (c *Playback) Close() {
	c.player.mu.Lock()
	defer c.player.mu.Unlock()
	delete(c.player.views, c)
	c.player.notify()
}

func (p *Player) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait blocks until the entry is due and all other views have processed the earlier entries. It returns the cause of
// ctx if ctx is done first.
func (c *Playback) wait(ctx context.Context, next mark) error {
	p := c.player
	p.startOnce.Do(func() { p.started = time.Now() })
	p.move(c, next.offset)
	if p.speed > 0 {
		timer := time.NewTimer(time.Until(p.started.Add(time.Duration(float64(next.at) / p.speed))))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		changed, blocked := p.blocked(c, next.offset)
		if !blocked {
			c.reached.Store(next.at)
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// move records that a view waits for the entry at an offset.
func (p *Player) move(c *Playback, offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.views[c]; ok {
		p.views[c] = offset
		p.notify()
	}
}

// blocked reports whether another view has not processed all entries before an offset. It also returns a channel that is
// closed when a view changes.
func (p *Player) blocked(c *Playback, offset int64) (changed <-chan struct{}, blocked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, at := range p.views {
		blocked = blocked || other != c && at < offset
	}
	return p.changed, blocked
}

// Now returns the recorded time of the last played entry. A replay uses it as the time of its events.
func (c *Playback) Now() time.Time {
	return c.player.recording.Start.Add(time.Duration(c.reached.Load()))
}
