package lwtest

import (
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// frame returns an encoded watch event, or nil if the selector excludes the event. If an object starts to match the
// selector, the event is ADDED. If it stops matching, the event is DELETED, with the previous object and the new
// resourceVersion.
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

// bookmark returns an encoded BOOKMARK event with the latest revision that the watch has reached.
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
