package output

import (
	"bufio"
	"strings"
)

// printName prints "pod/web-0", or "deployment.apps/web", as kubectl does.
func printName(out *bufio.Writer, e *Event, opts *Options) error {
	if opts.Types {
		pad(out, e.Type.String(), 9)
	}
	out.WriteString(strings.ToLower(e.Object.Kind()))
	if group, _, found := strings.Cut(e.Object.APIVersion(), "/"); found {
		out.WriteByte('.')
		out.WriteString(group)
	}
	out.WriteByte('/')
	out.WriteString(e.Object.GetName())
	out.WriteByte('\n')
	return nil
}
