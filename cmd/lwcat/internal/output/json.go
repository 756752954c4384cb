package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// printJSONL prints each event as a JSON object on one line:
//
//	{"type":"MODIFIED","time":"2026-11-21T10:15:30.123456789Z","resource":"pods","key":"default/web-0","resourceVersion":"7","object":{…}}
func printJSONL(out *bufio.Writer, e *Event, opts *Options) {
	printJSON(out, opts, func(to stringWriter) { writeEvent(to, e, opts) })
}

// printJSON prints the JSON that write writes and a line break. On a terminal, it escapes control characters.
func printJSON(out *bufio.Writer, opts *Options, write func(to stringWriter)) {
	if opts.Terminal {
		var text bytes.Buffer
		write(&text)
		out.WriteString(escapedJSON(text.String()))
	} else {
		write(out)
	}
	out.WriteByte('\n')
}

// stringWriter is implemented by bufio.Writer and bytes.Buffer.
type stringWriter interface {
	WriteString(string) (int, error)
}

func writeEvent(out stringWriter, e *Event, opts *Options) {
	writeHead(out, e)
	writeObjects(out, e, opts)
}

// writeObjects writes the objects of an event and the closing brace.
func writeObjects(out stringWriter, e *Event, opts *Options) {
	out.WriteString(`,"object":`)
	out.WriteString(e.Object.Raw())
	if opts.Old && e.Old != nil {
		out.WriteString(`,"old":`)
		out.WriteString(e.Old.Raw())
	}
	out.WriteString("}")
}

// writeHead writes the members of an event before its objects.
func writeHead(out stringWriter, e *Event) {
	out.WriteString(`{"type":"`)
	out.WriteString(e.Type.String())
	out.WriteString(`","time":"`)
	out.WriteString(e.Time.UTC().Format(time.RFC3339Nano))
	out.WriteString(`","resource":`)
	out.WriteString(quote(e.Resource))
	out.WriteString(`,"key":`)
	out.WriteString(quote(e.Object.Key().String()))
	out.WriteString(`,"resourceVersion":`)
	out.WriteString(quote(e.Object.GetResourceVersion()))
}

// quote returns text as a JSON string. It is fast for valid names and resourceVersions, which need no escapes.
func quote(text string) string {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // encoding a string cannot fail
			return string(quoted)
		}
	}
	return `"` + text + `"`
}

// printWire prints an event in the format of the watch API: {"type":…,"object":…}.
func printWire(out *bufio.Writer, e *Event, opts *Options) {
	printJSON(out, opts, func(to stringWriter) {
		to.WriteString(`{"type":"`)
		to.WriteString(e.Type.String())
		to.WriteString(`"`)
		writeObjects(to, e, opts)
	})
}

// data returns the JSON that the JSONPath and YAML formats print: the object or, with Options.Types, the event in jsonl
// format.
func data(e *Event, opts *Options) lw.Value {
	if !opts.Types {
		return e.Object.Get("")
	}
	var text bytes.Buffer
	writeEvent(&text, e, opts)
	event, err := lw.ParseValue(text.Bytes())
	if err != nil { // the event would be nested more deeply than lw allows
		return e.Object.Get("")
	}
	return event
}
