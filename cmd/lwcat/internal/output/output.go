// Package output implements lwcat's output formats.
package output

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Event is an event to print.
type Event struct {
	Type     lw.EventType // Added, Modified or Deleted
	Time     time.Time    // time of receipt
	Resource string       // for example "pods" or "deployments.apps"
	Order    int          // position of the collection in the command line
	Object   *lw.Object   // current state, or last known state if the object is deleted
	Old      *lw.Object   // previous state for Modified, if known

	Columns []table.Column // the server's columns, or nil
	Cells   lw.Value       // a JSON array with the object's cells in these columns, or the zero Value
}

// Format prints events. Print may hold events back until Flush, because the layout of a table depends on all its rows.
// The caller must call Flush after each list and after each later event. The [bufio.Writer] keeps the first write
// error, so the methods return none.
type Format interface {
	Print(out *bufio.Writer, e *Event)
	Flush(out *bufio.Writer)
}

// Options configure the formats.
type Options struct {
	Types     bool // print event types in formats that print only objects
	Old       bool // print the previous object in formats that print events
	NoHeaders bool
	Color     bool
	Terminal  bool // escape characters in values that a terminal would interpret

	Namespaces bool // print a column with namespaces in tables, because the objects may be in different namespaces
	Resources  bool // whether several resources are followed, so that tables need a column with their names
	Wide       bool // whether tables also contain the columns that kubectl prints only with -o wide
	Once       bool // whether all events are additions, so that tables need no column for their type

	List         bool     // print the objects as one [List]
	Labels       bool     // print a column with all labels in tables
	LabelColumns []string // labels that have columns of their own in tables

	Fields [][]string        // set by New: paths of the fields that jsonpath prints
	Omits  func(*Event) bool // set by New: whether diff prints nothing for an event; nil for other formats

	Only   []string // paths that diff shows, for example "spec"; nil means all
	Ignore []string // more paths that diff ignores, for example "status.conditions[*].lastProbeTime"
}

// textFormat is a Format that appends an event's text to dst. It never holds events back.
type textFormat func(dst []byte, e *Event) []byte

func (f textFormat) Print(out *bufio.Writer, e *Event) { _, _ = out.Write(f(out.AvailableBuffer(), e)) }
func (f textFormat) Flush(*bufio.Writer)               {}

// formats lists the output formats that -o accepts. If a name contains "=", the format needs an argument.
var formats = []struct {
	name string
	make func(argument string, opts *Options) (Format, error)
}{
	{"jsonl", newText(appendJSONL)},
	{"json", newText(appendJSON)},
	{"line", newLine},
	{"table", newColumns},
	{"wide", newColumns},
	{"diff", newDiff},
	{"name", newText(appendName)},
	{"yaml", newText(appendYAML)},
	{"custom-columns=HEADER:PATH,...", newCustomColumns},
	{"jsonpath=TEMPLATE", newJSONPath},
}

func newText(text func([]byte, *Event, *Options) []byte) func(string, *Options) (Format, error) {
	return func(_ string, opts *Options) (Format, error) {
		return textFormat(func(dst []byte, e *Event) []byte { return text(dst, e, opts) }), nil
	}
}

// Names returns the names of the formats with their arguments.
func Names() (names []string) {
	for _, format := range formats {
		names = append(names, format.name)
	}
	return names
}

// New returns the format that -o names, for example "jsonl" or "custom-columns=NAME:.metadata.name".
func New(spec string, opts *Options) (Format, error) {
	name, argument, given := strings.Cut(spec, "=")
	for _, format := range formats {
		known, _, takes := strings.Cut(format.name, "=")
		switch {
		case known != name:
			continue
		case given && !takes:
			return nil, fmt.Errorf("output format %s takes no argument, but got %q", name, argument)
		case argument == "" && takes:
			return nil, fmt.Errorf("output format %s needs an argument: %s", name, format.name)
		}
		made, err := format.make(argument, opts)
		if err != nil {
			err = fmt.Errorf("output format %s: %w", name, err)
		}
		return made, err
	}
	return nil, fmt.Errorf("unknown output format %q; the formats are %s; for others, use kubectl", name, strings.Join(Names(), ", "))
}
