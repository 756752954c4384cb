package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"go.yaml.in/yaml/v3"
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

// printYAML prints a document between the markers "---" and "...", which delimit it in a stream:
//
//	--- # MODIFIED 2026-11-21T10:15:30.123456789Z pods default/web-0
//	apiVersion: v1
//	…
//	...
func printYAML(out *bufio.Writer, e *Event, opts *Options) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(yamlNode(data(e, opts))), encoder.Close()); err != nil {
		panic(err) // impossible: the nodes are valid, and a bytes.Buffer accepts every write
	}
	out.WriteString("--- # " + e.Type.String() + " " + e.Time.UTC().Format(time.RFC3339Nano) + " " + Plain(e.Resource+" "+e.Object.Key().String()) + "\n")
	out.WriteString(escape(text.String(), isBidi)) // yamlString quotes strings with these characters
	out.WriteString("...\n")
}

// yamlNode converts a value. It keeps the order of members and all digits of numbers.
func yamlNode(v lw.Value) *yaml.Node {
	switch v.Raw()[0] {
	case '{':
		node := &yaml.Node{Kind: yaml.MappingNode}
		positions := map[string]int{}
		for name, member := range v.Members() {
			if at, twice := positions[name]; twice { // YAML forbids duplicate names; the last value counts, as in JSON
				node.Content[at] = yamlNode(member)
				continue
			}
			node.Content = append(node.Content, yamlString(name), yamlNode(member))
			positions[name] = len(node.Content) - 1
		}
		return node
	case '[':
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for element := range v.Elements() {
			node.Content = append(node.Content, yamlNode(element))
		}
		return node
	case '"':
		return yamlString(v.String())
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: v.Raw()}
}

// yamlString quotes strings that YAML parsers would read as other types. The encoder alone does not quote all strings
// that YAML 1.1 parsers misread. yamlString also quotes multi-line strings with leading space, because the encoder
// writes them incorrectly, and strings with characters that change the text direction, so that they can be escaped.
func yamlString(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	block := strings.Contains(text, "\n")
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		node.Style = yaml.DoubleQuotedStyle
	}
	if strings.Trim(text, "0123456789:+-_.") == "" || strings.ContainsAny(text, "\r\t\u0085\u2028\u2029\ufeff") || strings.ContainsFunc(text, isBidi) || block && (text[0] == ' ' || text[0] == '\n') {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}
