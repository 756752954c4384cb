package output

import (
	"strconv"
	"time"
)

// clock is the human-readable time format. It omits the date.
const clock = "15:04:05.000"

// newLine returns the human-readable format: time, event type, kind, object, age and state. Objects of kind Event have
// different columns. These columns have headers if lwcat follows only one resource.
func newLine(_ string, opts *Options) (Format, error) {
	return newTable(opts, func(e *Event) row {
		if e.Object.Kind() == "Event" {
			return eventRow(e, opts)
		}
		var r row
		r.add("TIME", e.Time.Format(clock), faint)
		r.add("EVENT", e.Type.String(), typeColor(e.Type))
		r.add("KIND", e.Object.Kind(), noColor)
		r.add("OBJECT", e.Object.Key().String(), noColor)
		r.add("AGE", age(e), faint)
		r.add("STATE", summarize(e.Object), noColor)
		return r
	}), nil
}

// age returns the object's age at the time of the event, for example "5s", "3m" or "12d".
func age(e *Event) string { return since(e.Time, e.Object.Get("metadata.creationTimestamp").String()) }

// since formats the time since a timestamp in the largest unit that has a value of 2 or more. It returns "" if the
// timestamp is invalid.
func since(now time.Time, timestamp string) string {
	then, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return ""
	}
	d := now.Sub(then)
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}} {
		if d >= 2*unit.of {
			return strconv.Itoa(int(d/unit.of)) + unit.name
		}
	}
	return strconv.Itoa(max(0, int(d/time.Second))) + "s"
}
