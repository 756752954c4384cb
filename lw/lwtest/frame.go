package lwtest

import (
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

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
	return eventFrame(kind, w.object(w.form.object(w.res, shown)))
}

// bookmark returns an encoded BOOKMARK event with the revision that the watch has reached. If endOfState is set, the
// event has the initial-events-end annotation.
func (w *watch) bookmark(endOfState bool) []byte {
	object := w.form.bookmark(w.res, w.cursor.Revision(), endOfState)
	if w.tables != nil {
		object = w.tables.bookmark(object)
	}
	return eventFrame("BOOKMARK", object)
}

func eventFrame(kind string, object []byte) []byte {
	return fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", kind, object)
}
