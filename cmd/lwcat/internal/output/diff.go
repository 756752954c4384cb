package output

import (
	"bufio"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/diff"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// newDiff returns the format that prints changes:
//
//	10:15:30.123 MODIFIED pods shop/web-0 7 → 8
//	  ~ status.phase: "Pending" → "Running"
//	  + status.conditions[Ready]: {"type":"Ready","status":"True"}
//
// It prints nothing for changes that the filter ignores.
func newDiff(_ string, opts *Options) (Format, error) {
	ignore := opts.Ignore
	if ignore == nil {
		ignore = []string{"metadata.resourceVersion", "metadata.managedFields"} // the header line shows the resourceVersion, and managedFields are noise
	}
	filter, err := diff.Ignoring(ignore)
	return formatFunc(func(out *bufio.Writer, e *Event) {
		var changes []diff.Change
		if e.Type == lw.Modified && e.Old != nil {
			changes = diff.Compare(e.Old.Get(""), e.Object.Get(""), filter)
			if changes == nil {
				return
			}
		}
		printDiffHead(out, e, opts)
		for _, change := range changes {
			printChange(out, &change, opts)
		}
	}), err
}

func printDiffHead(out *bufio.Writer, e *Event, opts *Options) {
	out.WriteString(opts.colorize(faint, e.Time.Format(clock)) + " ")
	out.WriteString(opts.colorize(typeColor(e.Type), e.Type.String()))
	out.WriteString(Plain(" " + e.Resource + " " + e.Object.Key().String() + " "))
	if e.Old != nil {
		out.WriteString(Plain(e.Old.GetResourceVersion()) + " → ")
	}
	out.WriteString(Plain(e.Object.GetResourceVersion()))
	if e.Type == lw.Modified && e.Old == nil {
		out.WriteString(" (previous state unknown)")
	}
	out.WriteByte('\n')
}

func printChange(out *bufio.Writer, c *diff.Change, opts *Options) {
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
	out.WriteString("  " + opts.colorize(paint, Plain(text)) + "\n")
}

// readable replaces JSON's escapes for HTML characters. The first pair keeps escaped backslashes.
var readable = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
