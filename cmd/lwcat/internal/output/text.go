package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/diff"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// appendJSONL formats each event as a JSON object on one line:
//
//	{"type":"MODIFIED","time":"2026-11-21T10:15:30.123456789Z","resource":"pods","key":"default/web-0","resourceVersion":"7","object":{…}}
func appendJSONL(dst []byte, e *Event, opts *Options) []byte {
	return endLine(appendEvent(dst, e, opts), opts.Terminal)
}

// endLine ends a line of JSON. It replaces line breaks with spaces, because some servers indent their lists. Valid JSON
// contains line breaks only between tokens. If escape is true, endLine also escapes control characters.
func endLine(line []byte, escape bool) []byte {
	for i, c := range line {
		if c == '\n' || c == '\r' {
			line[i] = ' '
		}
	}
	if escape {
		line = []byte(escapedJSON(string(line)))
	}
	return append(line, '\n')
}

func appendEvent(dst []byte, e *Event, opts *Options) []byte {
	dst = append(dst, `{"type":"`+e.Type.String()+`","time":"`+e.Time.UTC().Format(time.RFC3339Nano)+`","resource":`+quote(e.Resource)+
		`,"key":`+quote(lw.KeyOf(e.Object).String())+`,"resourceVersion":`+quote(e.Object.GetResourceVersion())...)
	return appendObjects(dst, e, opts)
}

// appendObjects appends an event's objects and the closing brace.
func appendObjects(dst []byte, e *Event, opts *Options) []byte {
	dst = append(append(dst, `,"object":`...), e.Object.Raw()...)
	if opts.Old && e.Old != nil {
		dst = append(append(dst, `,"old":`...), e.Old.Raw()...)
	}
	return append(dst, '}')
}

// quote returns text as a JSON string.
func quote(text string) string {
	quoted, _ := json.Marshal(text) // encoding a string cannot fail
	return string(quoted)
}

// data returns the JSON that the JSONPath and YAML formats print: the object or, with Options.Types, the event as
// in the jsonl format.
func data(e *Event, opts *Options) lw.Value {
	if opts.Types {
		// An event contains its object, so it may be nested more deeply than lw allows.
		if event, err := lw.ParseValue(appendEvent(nil, e, opts)); err == nil {
			return event
		}
	}
	return e.Object.Get("")
}

// appendJSON formats an event as one line with the object, as kubectl get -o json does for a single object. With
// Options.Types, the line is an event of the watch API: {"type":…,"object":…}.
func appendJSON(dst []byte, e *Event, opts *Options) []byte {
	if !opts.Types {
		return endLine(append(dst, e.Object.Raw()...), true)
	}
	return endLine(appendObjects(append(dst, `{"type":"`+e.Type.String()+`"`...), e, opts), true)
}

// List returns one event that contains the objects of all events as one List, as kubectl get does with -o json.
func List(events []Event) ([]Event, error) {
	var items []string
	for i := range events {
		items = append(items, events[i].Object.Raw())
	}
	list, err := lw.ParseObject([]byte(`{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[` + strings.Join(items, ",") + "]}"))
	if err != nil {
		return nil, fmt.Errorf("the objects cannot be printed as one List: %w", err)
	}
	return []Event{{Object: list}}, nil
}

// appendYAML formats an event as a document between the markers "---" and "...", which delimit it in a stream:
//
//	--- # MODIFIED 2026-11-21T10:15:30.123456789Z pods default/web-0
//	apiVersion: v1
//	…
//	...
func appendYAML(dst []byte, e *Event, opts *Options) []byte {
	if opts.Once { // like kubectl, so that two runs print the same
		return append(appendNode(append(dst, "---"...), data(e, opts), "\n", "\n"), '\n')
	}
	dst = append(dst, "--- # "+e.Type.String()+" "+e.Time.UTC().Format(time.RFC3339Nano)+" "+Plain(e.Resource+" "+lw.KeyOf(e.Object).String())...)
	return append(appendNode(dst, data(e, opts), "\n", "\n"), "\n...\n"...)
}

// appendNode appends a value after a key or a dash. It keeps the order of members and all digits of numbers. It writes
// the parameter "start" before the first member or element. Before each of the others, it writes "separator", which
// consists of a line break and an indentation.
func appendNode(dst []byte, v lw.Value, start, separator string) []byte {
	from := len(dst)
	switch raw := v.Raw(); raw[0] {
	case '{':
		var names []string
		members := map[string]lw.Value{}
		for name, member := range v.Members() { // YAML forbids duplicate names; the last value counts, as in JSON
			if !members[name].Exists() {
				names = append(names, name)
			}
			members[name] = member
		}
		for _, name := range names {
			dst = append(dst, start+yamlString(name, "")+":"...)
			dst = appendNode(dst, members[name], separator+"  ", separator+"  ")
			start = separator
		}
	case '[':
		for element := range v.Elements() {
			dst = appendNode(append(dst, start+"-"...), element, " ", separator+"  ")
			start = separator
		}
	case '"':
		return append(dst, " "+yamlString(v.String(), separator)...)
	}
	if len(dst) == from { // a number, true, false, null, {} or []
		dst = append(dst, " "+strings.Join(strings.Fields(v.Raw()), "")...)
	}
	return dst
}

// yamlString returns a string as YAML. It quotes all strings that parsers could read as other types, and some others.
// If separator is not empty, yamlString writes each line of a longer text on its own line. A text that starts with a
// space or a line break is quoted instead, because parsers derive the indentation from the first line with content.
func yamlString(text, separator string) string {
	switch lower := strings.ToLower(text); {
	case plainYAML.MatchString(text) && !strings.Contains(text, ": ") && !slices.Contains(ambiguous, lower):
		return text
	case separator == "" || !strings.Contains(text, "\n") || text[0] == ' ' || text[0] == '\n',
		strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }):
		return strconv.Quote(strings.ToValidUTF8(text, "\ufffd"))
	}
	body, ended := strings.CutSuffix(text, "\n")
	chomping := "|-"
	if ended {
		chomping = "|"
		if strings.HasSuffix(body, "\n") {
			chomping = "|+"
		}
	}
	return chomping + separator + strings.ReplaceAll(body, "\n", separator)
}

var (
	plainYAML = regexp.MustCompile(`^[A-Za-z/](?:[-A-Za-z0-9_./:@=+,() ]*[-A-Za-z0-9_./@=+,()])?$`)
	ambiguous = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
)

// newJSONPath returns the format that prints a JSONPath template's output, one line per event. If the output is empty,
// the format prints nothing. On a terminal, it replaces control characters in the object's values, but not in the
// template.
func newJSONPath(text string, opts *Options) (Format, error) {
	first := strings.TrimPrefix(strings.TrimLeft(text, "{ "), "range ")
	if path := strings.TrimLeft(first, " $@."); !opts.List && (strings.HasPrefix(path, "items[") || strings.HasPrefix(path, "items}")) {
		return nil, errors.New("lwcat formats one object at a time: write {.metadata.name} instead of {.items[*].metadata.name}, or use lwcat get")
	}
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	if !opts.Types && !opts.List {
		opts.Fields = parsed.Fields()
	}
	valueText := lw.Value.String
	if opts.Terminal {
		valueText = func(v lw.Value) string { return plainLines(v.String()) }
	}
	return textFormat(func(dst []byte, e *Event) []byte {
		dst = parsed.Append(dst, data(e, opts), valueText)
		if len(dst) > 0 && dst[len(dst)-1] != '\n' {
			dst = append(dst, '\n')
		}
		return dst
	}), nil
}

func appendName(dst []byte, e *Event, opts *Options) []byte {
	if opts.Types {
		dst = fmt.Appendf(dst, "%-9s", e.Type)
	}
	name := Name(e.Object)
	if e.Object.Kind() == "PartialObjectMetadata" {
		name = e.Resource + "/" + e.Object.GetName()
	}
	return append(dst, Plain(name)+"\n"...)
}

// Name returns an object's name like kubectl, for example "pod/web-0" or "deployment.apps/web".
func Name(o *lw.Object) string {
	kind := strings.ToLower(o.Kind())
	if group, _, found := strings.Cut(o.APIVersion(), "/"); found {
		kind += "." + group
	}
	return kind + "/" + o.GetName()
}

// newDiff returns the format that prints changes:
//
//	10:15:30.123 MODIFIED pods shop/web-0 7 → 8
//	  ~ status.phase: "Pending" → "Running"
//	  + status.conditions[Ready]: {"type":"Ready","status":"True"}
//
// The format prints nothing for a modified object if the filter ignores all differences.
func newDiff(_ string, opts *Options) (Format, error) {
	// The diff omits the resourceVersion, because the header line shows it. It omits managedFields, because they only
	// record who changed which fields.
	filter, err := diff.NewFilter(opts.Only, append([]string{"metadata.resourceVersion", "metadata.managedFields"}, opts.Ignore...))
	format := textFormat(func(dst []byte, e *Event) []byte {
		var changes []diff.Change
		if e.Type == lw.Modified && e.Old != nil {
			if changes = diff.Compare(e.Old.Get(""), e.Object.Get(""), filter); changes == nil {
				return dst
			}
		}
		dst = append(dst, diffHead(e, opts)...)
		for _, change := range changes {
			dst = append(dst, changeLine(&change, opts)...)
		}
		return dst
	})
	opts.Omits = func(e *Event) bool { return len(format(nil, e)) == 0 }
	return format, err
}

func diffHead(e *Event, opts *Options) string {
	old, unknown := "", ""
	switch {
	case e.Old != nil:
		old = Plain(e.Old.GetResourceVersion()) + " → "
	case e.Type == lw.Modified:
		unknown = " (previous state unknown)"
	}
	return opts.colorize(faint, e.Time.Format(clock)) + " " + opts.colorize(typeColors[e.Type], e.Type.String()) +
		Plain(" "+e.Resource+" "+lw.KeyOf(e.Object).String()+" ") + old + Plain(e.Object.GetResourceVersion()) + unknown + "\n"
}

func changeLine(c *diff.Change, opts *Options) string {
	path, old, new, paint := c.Path.String(), readable.Replace(c.Old.Raw()), readable.Replace(c.New.Raw()), yellow
	text := "~ " + path + ": " + old + " → " + new
	switch {
	case c.Reorder:
		text = "~ order of " + path + ": " + old + " → " + new
	case !c.Old.Exists():
		text, paint = "+ "+path+": "+new, green
	case !c.New.Exists():
		text, paint = "- "+path+": "+old, red
	}
	return "  " + opts.colorize(paint, Plain(text)) + "\n"
}

// readable undoes JSON's escapes for HTML characters. The first pair keeps escaped backslashes as they are.
var readable = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
