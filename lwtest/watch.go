package lwtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// watch is a WATCH request and its position in the log. It serves both HTTP and WebSocket.
type watch struct {
	*query
	server    *Server
	from      int64 // resourceVersion to start from
	initial   bool  // whether to begin with the current objects
	streaming bool  // for sendInitialEvents: whether to wait until the server reaches the resourceVersion in from, and to send a bookmark after the initial objects
	bookmarks bool
	deadline  time.Time

	state  []revlog.Entry[*object] // the current objects to send first
	cursor *revlog.Cursor[*object]
	failed *lw.StatusError // why the watch cannot start; the client receives it as an ERROR event
}

// batchSize limits the number of events that a watch takes from the log at once. Without a limit, a watch with a slow
// reader would hold all later events in memory.
const batchSize = 64

// newWatch opens a watch. The watch reports every event that happens after newWatch returns.
func (s *Server) newWatch(ctx context.Context, q *query) (*watch, error) {
	if err := validateWatch(q, !s.opts.NoStreamingLists); err != nil {
		return nil, err
	}
	from, err := parseVersion(q.Get("resourceVersion"))
	if err != nil {
		return nil, newError(http.StatusInternalServerError, "", "%v", err) // kube-apiserver sends 500 without a reason
	}
	seconds, err := strconv.Atoi(cmp.Or(q.Get("timeoutSeconds"), "0"))
	if err != nil {
		return nil, badRequest("timeoutSeconds: %v", err)
	}
	timeout := time.Duration(seconds) * time.Second
	if timeout <= 0 {
		// Like kube-apiserver, the server chooses a random timeout, so that not all watches end at once.
		timeout = 30*time.Minute + rand.N(30*time.Minute)
	}
	w := &watch{query: q, server: s, from: from, deadline: time.Now().Add(timeout)}
	w.bookmarks = isOn(q.Values, "allowWatchBookmarks")
	w.streaming = isOn(q.Values, "sendInitialEvents")
	w.initial = w.streaming || from == 0 && !q.Has("sendInitialEvents") // from is 0 if resourceVersion is empty or "0"
	if err := w.open(ctx); err != nil && !errors.As(err, &w.failed) {
		return nil, err
	}
	return w, nil
}

// open sets the cursor of the watch. It also reads the current objects if the watch begins with them.
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

// frames yields the watch events, each encoded as a line of JSON. The second value reports whether another event
// follows immediately, so that the caller can delay a flush. The sequence ends when ctx is canceled, at the timeout,
// after an ERROR event, or if the reader is too slow. It can be used only once.
func (w *watch) frames(ctx context.Context) iter.Seq2[[]byte, bool] {
	return func(yield func(frame []byte, more bool) bool) {
		send := func(frame []byte, more bool) bool { return w.server.unstalled(ctx) && yield(frame, more) }
		switch {
		case w.failed != nil:
			send(eventFrame("ERROR", encodeStatus(w.failed, "")), false)
		case w.sendState(send):
			w.follow(ctx, send)
		}
	}
}

func (w *watch) sendState(send func([]byte, bool) bool) bool {
	state, mark := w.state, w.streaming && w.bookmarks
	w.state = nil // frees the memory during a long watch
	for i, e := range state {
		if !send(eventFrame("ADDED", w.object(e.Value)), mark || i < len(state)-1) {
			return false
		}
	}
	return !mark || send(w.bookmarkFrame(true), false)
}

// follow sends events and bookmarks until the watch ends. It reads the log at least once, even after the deadline,
// because a watch may start late on a busy machine, and must still report the changes that happened before. For the same
// reason, it sends a bookmark that was due before the deadline.
func (w *watch) follow(ctx context.Context, send func([]byte, bool) bool) {
	nextBookmark := w.afterBookmark(time.Now())
	for began, late := false, false; w.server.unstalled(ctx) && (!began || time.Now().Before(w.deadline) || !late && nextBookmark.Before(w.deadline)); began = true {
		late = !time.Now().Before(w.deadline)
		frames, changed, err := w.read()
		if err != nil {
			return // without an ERROR event, like kube-apiserver
		}
		if now := time.Now(); len(frames) == 0 && !now.Before(nextBookmark) {
			nextBookmark = w.afterBookmark(now)
			if w.bookmarks && w.cursor.Revision() <= w.server.revision() { // send no bookmark before the server has reached the requested resourceVersion
				frames = append(frames, w.bookmarkFrame(false))
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

var errRemoved = errors.New("lwtest: the resource was removed")

// read returns the next events. If no event is available, it returns a channel that is closed on the next change. It
// returns an error if the resource was removed, or if the next events of the watch were compacted.
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

// beforeDeadline is the time between a watch's last bookmark and its timeout. kube-apiserver also sends a bookmark
// shortly before the timeout, so that the client can resume from a recent resourceVersion.
const beforeDeadline = 1400 * time.Millisecond

// afterBookmark returns the time of the next bookmark. now is the time of the previous bookmark.
func (w *watch) afterBookmark(now time.Time) time.Time {
	next := now.Add(w.server.opts.BookmarkInterval)
	if last := w.deadline.Add(-beforeDeadline); last.After(now) && last.Before(next) {
		return last
	}
	return next
}

func sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// frame returns the encoded watch event for a change in the log, or nil if the namespace or the selector excludes the
// change. If an object starts to match the selector, the event is ADDED. If it stops matching, the event is DELETED,
// with the previous object and the new resourceVersion.
func (w *watch) frame(event revlog.Event[*object]) []byte {
	now, old := event.Entry, event.Prev
	if !strings.HasPrefix(now.Key, w.prefix) {
		return nil
	}
	matched := event.Type != revlog.Created && w.selector.matches(old.Value)
	matches := event.Type != revlog.Deleted && w.selector.matches(now.Value)
	kind, shown := "", now.Value
	switch {
	case matched && matches:
		kind = "MODIFIED"
	case matches:
		kind = "ADDED"
	case matched && event.Type == revlog.Deleted:
		kind = "DELETED"
	case matched:
		kind, shown = "DELETED", old.Value.withVersion(w.res, now.Revision)
	default:
		return nil
	}
	return eventFrame(kind, w.object(shown))
}

// bookmarkFrame returns an encoded BOOKMARK event with the revision that the watch has reached.
func (w *watch) bookmarkFrame(end bool) []byte {
	return eventFrame("BOOKMARK", w.bookmark(w.cursor.Revision(), end))
}

func eventFrame(kind string, object []byte) []byte {
	return fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", kind, object)
}
