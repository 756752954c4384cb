package output

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// newJSONPath returns the format that prints the result of a JSONPath template, one line per event. It prints nothing
// if the result is empty. On a terminal, it replaces control characters in the object's values, but not in the template.
func newJSONPath(text string, opts *Options) (Format, error) {
	first := strings.TrimPrefix(strings.TrimLeft(text, "{ "), "range ")
	if path := strings.TrimLeft(first, " $@."); strings.HasPrefix(path, "items[") || strings.HasPrefix(path, "items}") {
		return nil, errors.New("lwcat formats one object at a time: write {.metadata.name} instead of {.items[*].metadata.name}")
	}
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	valueText := lw.Value.String
	if opts.Terminal {
		valueText = func(v lw.Value) string { return plainLines(v.String()) }
	}
	return formatFunc(func(out *bufio.Writer, e *Event) {
		line := parsed.Append(nil, data(e, opts), valueText)
		out.Write(line)
		if len(line) > 0 && line[len(line)-1] != '\n' {
			out.WriteByte('\n')
		}
	}), nil
}

// printName prints the object's name in kubectl's form, for example "pod/web-0" or "deployment.apps/web".
func printName(out *bufio.Writer, e *Event, opts *Options) {
	if opts.Types {
		fmt.Fprintf(out, "%-9s", e.Type)
	}
	out.WriteString(Plain(nameOfKind(e) + "/" + e.Object.GetName()))
	out.WriteByte('\n')
}

// nameOfKind returns the lower-case kind with its group, for example "pod" or "deployment.apps". For
// PartialObjectMetadata, it returns the resource name.
func nameOfKind(e *Event) string {
	kind := strings.ToLower(e.Object.Kind())
	group, _, found := strings.Cut(e.Object.APIVersion(), "/")
	switch {
	case kind == "partialobjectmetadata":
		return e.Resource
	case found:
		return kind + "." + group
	}
	return kind
}
