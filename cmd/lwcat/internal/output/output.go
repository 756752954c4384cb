// Package output has the forms in which events are printed.
package output

import (
	"bufio"
	"fmt"
	"os"
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
	Old      *lw.Object   // as it was before; nil unless Modified
	Row      *Row         // how the server shows it, for wide; nil if it does not say
}

// Row is what a server shows of an object.
type Row struct {
	Columns []string
	Cells   lw.Value // an array
}

// Format prints one event. The [bufio.Writer] keeps the first write error, so Print returns none.
type Format interface {
	Print(out *bufio.Writer, e *Event)
}

// Flusher is a Format that may hold back events until it knows how to print them. Flush is called when all of a list were
// printed, and after each event that comes by itself.
type Flusher interface {
	Flush(out *bufio.Writer)
}

// Options say what is printed with the objects, and how.
type Options struct {
	Types     bool // with formats that print objects only, the type of each event too
	Old       bool // with formats that print events, the object before
	NoHeaders bool
	Color     bool
	States    bool // rows are states, and not events

	Namespaces bool // with wide, the namespace of each object
	Resources  bool // with wide, the resource of each object

	// What diff and jsonpatch look at.
	StatusOnly bool
	Ignore     []string // paths, as "metadata.labels" or "status.conditions[*].lastProbeTime"; nil: what diff always ignores
}

// formatFunc is a Format that is a function.
type formatFunc func(out *bufio.Writer, e *Event)

func (f formatFunc) Print(out *bufio.Writer, e *Event) { f(out, e) }

// formats makes each format, by its name. What stands in -o behind "=" is its argument, for those that take one.
var formats = []struct {
	name, argument string
	make           func(argument string, opts *Options) (Format, error)
}{
	{"jsonl", "", newFactory(printJSONL, markJSONL)},
	{"wire", "", newFactory(printWire, markWire)},
	{"line", "", newLine},
	{"wide", "", newWide},
	{"diff", "", newDiff},
	{"jsonpatch", "", newPatch},
	{"name", "", newFactory(printName, nil)},
	{"yaml", "", newFactory(printYAML, nil)},
	{"custom-columns", "HEADER:PATH,...", newCustomColumns},
	{"jsonpath", "TEMPLATE", newJSONPath},
}

func newFactory(print func(*bufio.Writer, *Event, *Options), mark func(*bufio.Writer, *Mark)) func(string, *Options) (Format, error) {
	return func(_ string, opts *Options) (Format, error) {
		f := formatFunc(func(out *bufio.Writer, e *Event) { print(out, e, opts) })
		if mark == nil {
			return f, nil
		}
		return markFormat{f, mark}, nil
	}
}

// Names returns the formats' names, with what stands behind them.
func Names() (names []string) {
	for _, format := range formats {
		name := format.name
		if format.argument != "" {
			name += "=" + format.argument
		}
		names = append(names, name)
	}
	return names
}

// New returns the format that -o names, for example "jsonl" or "custom-columns=NAME:.metadata.name".
// A format with an argument can also read the argument from a file: "jsonpath-file=PATH".
func New(spec string, opts *Options) (Format, error) {
	name, argument, given := strings.Cut(spec, "=")
	for _, format := range formats {
		fromFile := name == format.name+"-file" && format.argument != ""
		if format.name != name && !fromFile {
			continue
		}
		switch {
		case given && format.argument == "":
			return nil, fmt.Errorf("output format %s takes no argument, and has %q", name, argument)
		case argument == "" && format.argument != "":
			return nil, fmt.Errorf("output format %s lacks its argument: %s=%s", name, name, format.argument)
		case fromFile:
			text, err := os.ReadFile(argument)
			if err != nil {
				return nil, fmt.Errorf("output format %s: %w", name, err)
			}
			argument = string(text)
		}
		made, err := format.make(argument, opts)
		if err != nil {
			return nil, fmt.Errorf("output format %s: %w", name, err)
		}
		return made, nil
	}
	return nil, unknownFormat(name)
}

func unknownFormat(name string) error {
	hint := ""
	if strings.HasPrefix(name, "go-template") {
		hint = "; use jsonpath, custom-columns or jq instead"
	}
	return fmt.Errorf("unknown output format %q; the formats are %s%s", name, strings.Join(Names(), ", "), hint)
}
