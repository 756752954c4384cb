// Package output has the forms in which events are printed.
package output

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Event is what happened to an object, as it is printed.
type Event struct {
	Type     lw.EventType // Added, Modified or Deleted
	Time     time.Time    // when it was received
	Resource string       // as "pods", or "deployments.apps"
	Object   *lw.Object   // as it is now; of a deletion, its last state that is known
	Old      *lw.Object   // as it was before; nil for Added
}

// Format prints one event. Several events may come at once, each whole; an error of the writer is kept by it, and need not be
// returned. Only what is wrong with an event's content is returned, and ends nothing.
type Format interface {
	Print(out *bufio.Writer, e *Event) error
}

// formatFunc is a Format that is a function.
type formatFunc func(out *bufio.Writer, e *Event) error

func (f formatFunc) Print(out *bufio.Writer, e *Event) error { return f(out, e) }

// formats makes each format, by its name. The part of -o behind "=" is its argument.
var formats = []struct {
	name string
	make func(argument string) (Format, error)
}{
	{"jsonl", simple(printJSONL)},
	{"wire", simple(printWire)},
	{"line", simple(printLine)},
}

func simple(print formatFunc) func(string) (Format, error) {
	return func(argument string) (Format, error) {
		if argument != "" {
			return nil, fmt.Errorf("it takes no argument, and has %q", argument)
		}
		return print, nil
	}
}

// Names returns the formats' names.
func Names() (names []string) {
	for _, format := range formats {
		names = append(names, format.name)
	}
	return names
}

// New returns the format that -o names, as "jsonl" or "custom-columns=NAME:.metadata.name".
func New(spec string) (Format, error) {
	name, argument, _ := strings.Cut(spec, "=")
	for _, format := range formats {
		if format.name == name {
			made, err := format.make(argument)
			if err != nil {
				return nil, fmt.Errorf("output format %s: %w", name, err)
			}
			return made, nil
		}
	}
	return nil, fmt.Errorf("no output format %q: there are %s", name, strings.Join(Names(), ", "))
}
