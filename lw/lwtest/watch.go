package lwtest

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// watch is a WATCH request, its parameters checked and its place in the log taken. It knows nothing of the transport: frames
// gives what is to be sent.
type watch struct {
	*query
	server    *Server
	from      int64 // the version to resume from
	initial   bool  // begin with the present state
	streaming bool  // a streaming list: wait for from, mark the end of the state
	bookmarks bool
	deadline  time.Time

	state  []revlog.Entry[*object] // at the cursor's revision, if the watch begins with it
	cursor *revlog.Cursor[*object]
	failed *apiStatus // an error that the client sees as an event
}

// batchSize bounds how many events a watch holds at a time. Everything else that it has not sent yet is in the log.
const batchSize = 64

// newWatch opens a watch: when it returns, no later event can be missed.
func (s *Server) newWatch(ctx context.Context, q *query) (*watch, error) {
	if err := validateWatch(q, !s.opts.NoStreamingLists); err != nil {
		return nil, err
	}
	from, err := parseVersion(q.get("resourceVersion"))
	if err != nil {
		return nil, &apiStatus{Code: http.StatusInternalServerError, Message: err.Error()} // not 400, and no reason
	}
	seconds, err := strconv.Atoi(cmp.Or(q.get("timeoutSeconds"), "0"))
	if err != nil {
		return nil, badRequest("timeoutSeconds: %v", err)
	}
	timeout := time.Duration(seconds) * time.Second
	if timeout <= 0 {
		timeout = 30*time.Minute + rand.N(30*time.Minute)
	}
	w := &watch{query: q, server: s, from: from, deadline: time.Now().Add(timeout)}
	w.bookmarks = isOn(q.values, "allowWatchBookmarks")
	w.streaming = isOn(q.values, "sendInitialEvents")
	w.initial = w.streaming || from == 0 && !q.values.Has("sendInitialEvents")
	if err := w.open(ctx); err != nil && !errors.As(err, &w.failed) {
		return nil, err
	}
	return w, nil
}

// open finds the watch's place in the log and, if it begins with the state, that.
func (w *watch) open(ctx context.Context) error {
	if w.streaming {
		if err := w.server.waitFor(ctx, w.from); err != nil {
			return err
		}
	}
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	from := w.from
	if w.initial || from == 0 {
		from = s.log.Revision()
	}
	var err error
	if w.cursor, err = s.log.Watch(w.res.id(), from); err != nil {
		return expired("too old resource version: %d (%d)", from, s.log.Compacted())
	}
	if !w.initial {
		return nil
	}
	state, err := s.log.At(w.res.id(), w.prefix, from)
	w.state = slices.DeleteFunc(state, func(e revlog.Entry[*object]) bool { return !w.selector.matches(e.Value) })
	return err
}

// frames yields the watch's events as lines of JSON, each with its newline, until the watch ends. more says that another
// frame follows at once, so that there is no need to flush yet. The sequence ends when ctx does, at the timeout, after an
// error event, or because the reader was too slow. It can be ranged over once.
func (w *watch) frames(ctx context.Context) iter.Seq2[[]byte, bool] {
	return func(yield func(frame []byte, more bool) bool) {
		send := func(frame []byte, more bool) bool { return w.server.unstalled(ctx) && yield(frame, more) }
		switch {
		case w.failed != nil:
			send(eventFrame("ERROR", marshal(w.failed)), false)
		case w.sendState(send):
			w.follow(ctx, send)
		}
	}
}

func (w *watch) sendState(send func([]byte, bool) bool) bool {
	state, mark := w.state, w.streaming && w.bookmarks
	w.state = nil // not for the hours that the watch may last
	for i, e := range state {
		if !send(eventFrame("ADDED", w.object(w.form.object(w.res, e.Value))), mark || i < len(state)-1) {
			return false
		}
	}
	return !mark || send(w.bookmark(true), false)
}

// follow sends what happens, and bookmarks, until the watch ends. What has happened before is sent however late it is.
func (w *watch) follow(ctx context.Context, send func([]byte, bool) bool) {
	nextBookmark := w.afterBookmark(time.Now())
	for began := false; w.server.unstalled(ctx) && (!began || time.Now().Before(w.deadline)); began = true {
		frames, changed, err := w.read()
		if err != nil {
			return // no reason is given
		}
		if now := time.Now(); len(frames) == 0 && !now.Before(nextBookmark) {
			nextBookmark = w.afterBookmark(now)
			if w.bookmarks && w.cursor.Revision() <= w.server.Revision() { // not before a future version has come
				frames = append(frames, w.bookmark(false))
			}
		}
		if len(frames) == 0 {
			sleep(ctx, changed, min(time.Until(w.deadline), time.Until(nextBookmark)))
		}
		for i, frame := range frames {
			if !send(frame, i < len(frames)-1) {
				return
			}
		}
	}
}

// errRemoved ends the watches of a resource that is not served any more.
var errRemoved = errors.New("lwtest: the resource was removed")

// read gives the next frames, or none and a channel that is closed when there may be some. Its error means that there will
// be none: the resource is gone, or the watch was too slow and has lost events.
func (w *watch) read() (frames [][]byte, changed <-chan struct{}, err error) {
	s := w.server
	for {
		s.mu.Lock()
		events, err := w.cursor.Next(batchSize)
		served := slices.Contains(s.resources, w.res)
		changed = s.changed
		s.mu.Unlock()
		switch {
		case err != nil:
			return nil, nil, err
		case len(events) == 0 && !served:
			return nil, nil, errRemoved
		case len(events) == 0:
			return nil, changed, nil
		}
		for _, event := range events {
			if frame := w.frame(event); frame != nil {
				frames = append(frames, frame)
			}
		}
		if len(frames) > 0 {
			return frames, changed, nil
		}
	}
}

// beforeDeadline is how long before its end a watch gets a last bookmark.
const beforeDeadline = 1400 * time.Millisecond

// afterBookmark is when the bookmark after one at now is due.
func (w *watch) afterBookmark(now time.Time) time.Time {
	next := now.Add(w.server.opts.BookmarkInterval)
	if last := w.deadline.Add(-beforeDeadline); last.After(now) && last.Before(next) {
		return last
	}
	return next
}

// sleep returns when the channel is closed, the time is over or ctx is.
func sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// unstalled waits while watches are stalled. It is false if ctx has ended.
func (s *Server) unstalled(ctx context.Context) bool {
	for {
		s.mu.Lock()
		stalled, changed := s.stalled, s.changed
		s.mu.Unlock()
		if ctx.Err() != nil || !stalled {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (s *Server) isStalled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stalled
}
