package output

import (
	"bufio"
	"strings"
)

// printName prints "pod/web-0", or "deployment.apps/web", as kubectl does.
func printName(out *bufio.Writer, e *Event, opts *Options) {
	if opts.Types {
		pad(out, e.Type.String(), 9)
	}
	out.WriteString(Plain(nameOfKind(e) + "/" + e.Object.GetName()))
	out.WriteByte('\n')
}

// nameOfKind is "pod" or "deployment.apps", or in the plural, where the object is of no kind of its own.
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
