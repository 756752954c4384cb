package output

import (
	"fmt"
	"strings"
	"time"
)

// eventRow returns the row for an Event of the core group or of events.k8s.io. It has the columns of kubectl events.
func eventRow(e *Event, opts *Options) (r row) {
	of := e.Object
	last := first(of, "series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp", "eventTime", "metadata.creationTimestamp")
	seen := since(e.Time, last)
	if count := first(of, "series.count", "count", "deprecatedCount"); count != "" && count != "0" && count != "1" {
		seen += fmt.Sprintf(" (x%s over %s)", count, since(e.Time, first(of, "firstTimestamp", "deprecatedFirstTimestamp", "eventTime")))
	}
	paint, typ := noColor, of.Get("type").String()
	if typ == "Warning" {
		paint = yellow
	}
	r.titled = !opts.Resources
	r.when, _ = time.Parse(time.RFC3339, last) // an event without a time comes first
	r.add("TIME", e.Time.Format(clock), faint)
	r.add("EVENT", e.Type.String(), typeColor(e.Type))
	r.add("LAST SEEN", seen, faint)
	r.add("TYPE", typ, paint)
	r.add("REASON", of.Get("reason").String(), noColor)
	if opts.Namespaces {
		r.add("NAMESPACE", of.GetNamespace(), noColor)
	}
	r.add("OBJECT", strings.ToLower(first(of, "involvedObject.kind", "regarding.kind"))+"/"+first(of, "involvedObject.name", "regarding.name"), noColor)
	r.add("MESSAGE", strings.TrimSpace(first(of, "message", "note")), noColor)
	return r
}
