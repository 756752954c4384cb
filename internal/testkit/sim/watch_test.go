package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// stream is the server side of a watch.
type stream struct {
	*server
	replica     *replica
	cursor      *revlog.Cursor[value]
	held        *revlog.Event[value] // event that the watch cache has not received yet
	sent        int64                // latest revision that the client has received
	deadline    time.Time
	mark        time.Time // time of the initial-events-end bookmark; zero if none is due
	bookmark    time.Time // time of the next bookmark
	final       bool      // the server closes the watch after sending the data in `first`
	first       string    // data to send before all events
	unversioned bool      // events have no resourceVersion
	hasty       bool      // the server closes the watch after its first events
	listed      bool      // the watch is not a streaming list, or its initial-events-end bookmark has been sent
}

// watch returns the stream for a watch request, or an error response.
func (s *server) watch(q query, r *replica, now time.Time) (*stream, error) {
	w := &stream{server: s, replica: r, deadline: now.Add(q.timeout), bookmark: now.Add(s.bookmarkPause())}
	if q.streams {
		return w, w.begin(q, now)
	}
	w.unversioned, w.hasty = s.habit == unversionedEvents || s.habit == unversionedLists, s.habit == unversionedEvents
	if q.version == "" || q.version == "0" {
		w.listed, w.sent = true, r.cached
		entries, err := w.log.At(watched, "", w.sent)
		if err != nil {
			panic(err) // cannot happen, because the server compacts only revisions that all caches have passed
		}
		for _, e := range entries {
			w.first += w.encoded(entryEvent("ADDED", e))
		}
		return w, w.follow(w.sent)
	}
	from, err := strconv.ParseInt(q.version, 10, 64)
	if err != nil {
		return nil, errorResponse(500, "", "invalid resource version", "")
	}
	w.sent, w.listed = from, true
	if from < r.oldest {
		return w, w.expire()
	}
	return w, w.follow(from)
}

// expire reports an expired resourceVersion with an error response, an ERROR event or an empty watch, depending on
// expiredAs.
func (w *stream) expire() error {
	w.final = true
	switch w.expiredAs {
	case expiredByHTTP:
		return errorResponse(410, "Gone", "too old resource version", "")
	case expiredByEvent:
		w.first += hostile.Event("ERROR", hostile.Status(410, "Expired", "too old resource version", ""))
	}
	return nil
}

func (w *stream) follow(from int64) (err error) {
	w.cursor, err = w.log.Watch(watched, from)
	return err
}

// begin prepares a streaming list. It returns an error response if the server rejects streaming lists.
func (w *stream) begin(q query, now time.Time) error {
	if w.streaming == streamsRejected {
		return errorResponse(422, "Invalid", "sendInitialEvents is forbidden for watch", "")
	}
	asked := w.log.Revision()
	if q.version != "" && q.version != "0" {
		asked, _ = strconv.ParseInt(q.version, 10, 64)
	}
	if asked > w.log.Revision() {
		w.final, w.mark = true, now.Add(3*time.Second)
		w.first = hostile.Event("ERROR", hostile.Status(504, "Timeout", "Timeout: Too large resource version", hostile.TooLarge))
		return nil
	}
	if asked > w.replica.cached && q.version != "0" {
		w.catchUp(w.replica)
	}
	w.sent = w.replica.cached
	entries, err := w.log.At(watched, "", w.sent)
	if err != nil {
		panic(err) // cannot happen, because the server compacts only revisions that all caches have passed
	}
	for _, e := range entries {
		w.first += entryEvent("ADDED", e)
		if w.oneIn(6) { // clients must check the value of the annotation, not only its presence
			w.first += bookmark(w.sent, "false")
		}
	}
	if w.habit == earlyMark {
		w.first, w.listed = bookmark(w.sent, "true")+strings.ReplaceAll(w.first, `-end":"false"`, `-none":"false"`), true
		return w.follow(w.sent)
	}
	switch w.streaming {
	case streamsCutShort:
		w.final = true
	case streamsWell:
		w.mark = now.Add(w.upTo(2 * time.Second))
	}
	return w.follow(w.sent)
}

// pump returns the data that the server sends now, and whether it then closes the watch. `next` is the time at which
// more data may be due.
func (w *stream) pump(now time.Time) (text string, end bool, next time.Time) {
	if w.final {
		if w.mark.After(now) {
			return "", false, w.mark
		}
		return w.first, true, now
	}
	text, w.first = w.first, ""
	more, lost := w.events()
	if text += more; lost || w.hasty && text != "" {
		return text, true, now
	}
	if !w.mark.IsZero() && !w.mark.After(now) {
		w.sent = max(w.sent, w.replica.cached)
		text += bookmark(w.sent, "true")
		w.mark, w.listed = time.Time{}, true
	}
	if !w.bookmark.After(now) {
		text += w.bookmarkDue(now)
	}
	next = earliest(w.deadline, w.bookmark, w.mark)
	return text, !w.deadline.After(now), next
}

// encoded returns the event as the server sends it. With the habits unversionedEvents and unversionedLists, the event has no
// resourceVersion.
func (w *stream) encoded(event string) string {
	if w.unversioned {
		return unversioned(event)
	}
	return event
}

// events returns the unsent events that the watch cache has received. `lost` means that unsent events were compacted,
// so that the server must close the watch.
func (w *stream) events() (text string, lost bool) {
	var all strings.Builder
	for {
		if w.held == nil {
			events, err := w.cursor.Next(1)
			if err != nil {
				return all.String(), true
			}
			if len(events) == 0 {
				return all.String(), false
			}
			w.held = &events[0]
		}
		e := w.held.Entry
		if e.Revision > w.replica.cached {
			return all.String(), false
		}
		all.WriteString(w.encoded(entryEvent(eventKinds[w.held.Type], e)))
		w.sent, w.held = e.Revision, nil
	}
}

// bookmarkDue returns the bookmarks that are due, or "" if the server sends none. It also schedules the next bookmark.
func (w *stream) bookmarkDue(now time.Time) string {
	w.bookmark = now.Add(w.bookmarkPause())
	if w.bookmarks == bookmarksNever || w.unversioned || w.replica.cached < w.sent {
		return ""
	}
	w.sent = w.replica.cached
	n := 1
	if w.bookmarks == bookmarksInWalls {
		n = 30
	}
	mark := ""
	if w.marks && w.listed {
		mark = "true"
	}
	return strings.Repeat(bookmark(w.sent, mark), n)
}

func (s *server) bookmarkPause() time.Duration {
	if s.bookmarks == bookmarksInWalls {
		return 5*time.Second + s.upTo(20*time.Second)
	}
	return 58*time.Second + s.upTo(3*time.Second)
}

// earliest returns the earliest time that is not zero.
func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if first.IsZero() || !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}
