package output

import (
	"bufio"
	"strconv"
	"time"
)

// printJSONL prints one JSON object a line:
//
//	{"type":"MODIFIED","time":"2026-11-21T10:15:30.123456789Z","resource":"pods","key":"default/web-0","resourceVersion":"7","object":{…}}
//
// A bufio.Writer keeps its first error for Flush.
func printJSONL(out *bufio.Writer, e *Event) error {
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
	out.WriteString(`,"object":`)
	out.WriteString(e.Object.Raw())
	out.WriteString("}\n")
	return nil
}

// quote makes a JSON string of a name or a version, which have no characters that Go and JSON quote in different ways.
func quote(text string) string { return strconv.Quote(text) }

// printWire prints the wire's own form: {"type":…,"object":…}.
func printWire(out *bufio.Writer, e *Event) error {
	out.WriteString(`{"type":"`)
	out.WriteString(e.Type.String())
	out.WriteString(`","object":`)
	out.WriteString(e.Object.Raw())
	out.WriteString("}\n")
	return nil
}
