package output

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// row contains the cells of one event.
type row struct {
	cells   []cell
	columns *columns
	titled  bool      // whether this kind of row has headers
	when    time.Time // Flush sorts rows by this time, so that Events appear in order; zero for other rows
}

type cell struct {
	header, text string
	color        color
}

func (r *row) add(header, text string, c color) {
	r.cells = append(r.cells, cell{Plain(header), Plain(text), c}) // the server supplies the headers of some columns
}

// rows prints events as a table with headers. Each column is as wide as its widest cell so far. All rows of a
// list are measured before the first one is printed, so that the list is aligned.
type rows struct {
	opts    *Options
	row     func(*Event) row
	known   map[string]*columns // columns by their headers, because resources may have different columns
	pending []row               // rows to print at the next Flush
}

// columns contains the widths that rows with the same headers share.
type columns struct {
	widths []int
	titled bool // whether the headers are still to be printed
}

func newTable(opts *Options, row func(*Event) row) *rows {
	return &rows{opts: opts, row: row, known: map[string]*columns{}}
}

// Print implements [Format].
func (t *rows) Print(_ *bufio.Writer, e *Event) {
	r, key := t.row(e), ""
	for _, c := range r.cells {
		key += c.header + "\n"
	}
	if r.columns = t.known[key]; r.columns == nil {
		r.columns = &columns{make([]int, len(r.cells)), r.titled && !t.opts.NoHeaders}
		t.known[key] = r.columns
	}
	for i, c := range r.cells {
		width := &r.columns.widths[i]
		if *width = max(*width, utf8.RuneCountInString(c.text)); r.columns.titled {
			*width = max(*width, utf8.RuneCountInString(c.header))
		}
		if c.header == "EVENT" {
			*width = max(*width, len("MODIFIED")) // the longest event type, which often follows a list of ADDED rows
		}
	}
	t.pending = append(t.pending, r)
}

// Flush implements [Format].
func (t *rows) Flush(out *bufio.Writer) {
	slices.SortStableFunc(t.pending, func(a, b row) int { return a.when.Compare(b.when) })
	for _, r := range t.pending {
		if r.columns.titled {
			r.columns.titled = false
			var headers []cell
			for _, c := range r.cells {
				headers = append(headers, cell{text: c.header})
			}
			out.WriteString(r.columns.line(headers, t.opts))
		}
		out.WriteString(r.columns.line(r.cells, t.opts))
	}
	clear(t.pending)
	t.pending = t.pending[:0]
}

// line aligns a row's cells, three spaces apart, and leaves out empty cells at its end.
func (c *columns) line(cells []cell, opts *Options) string {
	for len(cells) > 1 && cells[len(cells)-1].text == "" {
		cells = cells[:len(cells)-1]
	}
	var text strings.Builder
	for i, cell := range cells {
		text.WriteString(opts.colorize(cell.color, cell.text))
		if i < len(cells)-1 {
			text.WriteString(strings.Repeat(" ", c.widths[i]+3-utf8.RuneCountInString(cell.text)))
		}
	}
	return text.String() + "\n"
}

// color is a terminal color, given as SGR parameters.
type color string

const (
	noColor color = ""
	red     color = "31"
	green   color = "32"
	yellow  color = "33"
	faint   color = "2"
)

// colorize wraps a string in a color if colors are enabled.
func (o *Options) colorize(c color, text string) string {
	if !o.Color || c == noColor || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

var typeColors = map[lw.EventType]color{lw.Added: green, lw.Modified: yellow, lw.Deleted: red}

// clock is the time format in tables and diffs. It omits the date, which the user of a live view knows.
const clock = "15:04:05.000"

// newLine returns the format for people: time, event type, kind, object, age and state. Objects of kind Event have
// different columns, which get headers if lwcat follows only one resource.
func newLine(_ string, opts *Options) (Format, error) {
	return newTable(opts, func(e *Event) row {
		// Reading the members once is much cheaper than one Object.Get per field, which would step over the whole object.
		o := maps.Collect(e.Object.Get("").Members())
		if o["kind"].String() == "Event" {
			return eventRow(e, opts)
		}
		var r row
		r.add("TIME", e.Time.Format(clock), faint)
		r.add("EVENT", e.Type.String(), typeColors[e.Type])
		r.add("KIND", o["kind"].String(), noColor)
		r.add("OBJECT", lw.KeyOf(e.Object).String(), noColor)
		r.add("AGE", age(e, o["metadata"].Get("creationTimestamp")), faint)
		r.add("STATE", summarize(o), noColor)
		return r
	}), nil
}

// age returns the age of an object at the time of the event, for example "5s", "3m" or "12d".
func age(e *Event, created lw.Value) string { return since(e.Time, created.String()) }

// since returns the time from a timestamp until now, for example "5m". It uses the largest unit that fits into this
// time at least twice. It returns "" if the timestamp is invalid.
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

// eventRow returns the row for an Event from the core group or from events.k8s.io. After the time and
// the type of the change, it has the columns of kubectl events.
func eventRow(e *Event, opts *Options) (r row) {
	of := e.Object.Get("")
	last := first(of, "series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp", "eventTime")
	seen := cmp.Or(since(e.Time, last), "<unknown>")
	if count := first(of, "series.count", "count", "deprecatedCount"); count != "" && count != "0" && count != "1" {
		seen += fmt.Sprintf(" (x%s over %s)", count, since(e.Time, first(of, "firstTimestamp", "deprecatedFirstTimestamp", "eventTime")))
	}
	paint, typ := noColor, of.Get("type").String()
	if typ == "Warning" {
		paint = yellow
	}
	r.titled = !opts.Resources
	r.when, _ = time.Parse(time.RFC3339, last) // ignore the error, so that an event without a time comes first
	r.add("TIME", e.Time.Format(clock), faint)
	r.add("EVENT", e.Type.String(), typeColors[e.Type])
	r.add("LAST SEEN", seen, faint)
	r.add("TYPE", typ, paint)
	r.add("REASON", of.Get("reason").String(), noColor)
	if opts.Namespaces {
		r.add("NAMESPACE", e.Object.GetNamespace(), noColor)
	}
	r.add("OBJECT", strings.ToLower(first(of, "involvedObject.kind", "regarding.kind"))+"/"+first(of, "involvedObject.name", "regarding.name"), noColor)
	r.add("MESSAGE", strings.TrimSpace(first(of, "message", "note")), noColor)
	return r
}

// newColumns returns the format that prints the server's columns, as kubectl get does. For objects without such columns,
// it prints the name and age.
func newColumns(_ string, opts *Options) (Format, error) {
	return newTable(opts, func(e *Event) row { return columnsRow(e, opts) }), nil
}

func columnsRow(e *Event, opts *Options) (r row) {
	r.titled = true
	if !opts.Once {
		r.add("EVENT", e.Type.String(), typeColors[e.Type])
	}
	if opts.Resources {
		r.add("RESOURCE", e.Resource, noColor)
	}
	if opts.Namespaces {
		r.add("NAMESPACE", e.Object.GetNamespace(), noColor)
	}
	cells := slices.Collect(e.Cells.Elements())
	if e.Columns == nil || cells == nil {
		r.add("NAME", e.Object.GetName(), noColor)
		r.add("AGE", age(e, e.Object.Get("metadata.creationTimestamp")), noColor)
	} else {
		cells = append(cells, make([]lw.Value, len(e.Columns))...) // a row may have fewer cells than columns
		for i, column := range e.Columns {
			if opts.Wide || !column.Wide {
				r.add(strings.ToUpper(column.Name), cells[i].String(), noColor)
			}
		}
	}
	labels := maps.Collect(e.Object.Get("metadata.labels").Members())
	for _, key := range opts.LabelColumns {
		r.add(strings.ToUpper(key[strings.LastIndexByte(key, '/')+1:]), labels[key].String(), noColor)
	}
	if opts.Labels {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			pairs = append(pairs, key+"="+labels[key].String())
		}
		r.add("LABELS", cmp.Or(strings.Join(pairs, ","), "<none>"), noColor)
	}
	return r
}

// newCustomColumns returns the format for columns such as "NAME:.metadata.name,PHASE:.status.phase".
func newCustomColumns(text string, opts *Options) (Format, error) {
	var headers []string
	var paths []*jsonpath.Path
	for _, spec := range columnSpec.FindAllString(strings.TrimSpace(text), -1) {
		header, path, found := strings.Cut(spec, ":")
		if !found || header == "" {
			return nil, fmt.Errorf("expected a column such as NAME:.metadata.name, not %q", spec)
		}
		parsed, err := jsonpath.ParsePath(path)
		if err != nil {
			return nil, err
		}
		headers, paths = append(headers, header), append(paths, parsed)
	}
	if headers == nil {
		return nil, errors.New("expected at least one column")
	}
	return newTable(opts, func(e *Event) (r row) {
		r.titled = true
		if opts.Types {
			r.add("EVENT", e.Type.String(), typeColors[e.Type])
		}
		for i, path := range paths {
			var values []string
			for value := range path.Find(e.Object.Get("")) {
				if text := value.String(); text != "" {
					values = append(values, text)
				}
			}
			r.add(headers[i], cmp.Or(strings.Join(values, ","), "<none>"), noColor)
		}
		return r
	}), nil
}

// columnSpec matches one column, up to a comma outside brackets and quotes.
var columnSpec = regexp.MustCompile(`(?s)(?:"[^"]*"|'[^']*'|\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]|[^,])+`)

// summarize describes an object's state in a few words, for example "Running" for a Pod. o contains its members.
func summarize(o map[string]lw.Value) string {
	if o["metadata"].Get("deletionTimestamp").Exists() {
		return "Terminating"
	}
	if o["kind"].String() == "DaemonSet" {
		return ready(o["status"].Get("numberReady"), o["status"].Get("desiredNumberScheduled"))
	}
	if state := first(o["status"], "containerStatuses[0].state.waiting.reason", "phase"); state != "" {
		return state
	}
	if replicas := o["spec"].Get("replicas"); replicas.Exists() {
		return ready(o["status"].Get("readyReplicas"), replicas)
	}
	return condition(o["status"])
}

// ready formats two numbers, for example "2/3 ready".
func ready(part, whole lw.Value) string { return fmt.Sprintf("%d/%d ready", part.Int(), whole.Int()) }

// condition returns Ready or NotReady. If the status has no Ready condition, it returns the last of its true
// conditions.
func condition(status lw.Value) (state string) {
	for condition := range status.Get("conditions").Elements() {
		name, holds := condition.Get("type").String(), condition.Get("status").String() == "True"
		switch {
		case name == "Ready" && !holds:
			return "NotReady"
		case holds:
			state = name
		}
		if name == "Ready" {
			return state
		}
	}
	return state
}

// first looks at the paths in their order and returns the first text that is not empty. It returns "" if all values are
// missing or empty.
func first(object lw.Value, paths ...string) string {
	for _, path := range paths {
		if text := object.Get(path).String(); text != "" {
			return text
		}
	}
	return ""
}
