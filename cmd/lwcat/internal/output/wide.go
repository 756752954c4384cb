package output

import (
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// newWide returns the format that prints the server's columns. For objects without these columns, it prints the name
// and age.
func newWide(_ string, opts *Options) (Format, error) {
	return newTable(opts, func(e *Event) row { return wideRow(e, opts) }), nil
}

func wideRow(e *Event, opts *Options) (r row) {
	r.titled = true
	r.add("EVENT", e.Type.String(), typeColor(e.Type))
	if opts.Resources {
		r.add("RESOURCE", e.Resource, noColor)
	}
	if opts.Namespaces {
		r.add("NAMESPACE", e.Object.GetNamespace(), noColor)
	}
	if e.Row == nil {
		r.add("NAME", e.Object.GetName(), noColor)
		r.add("AGE", age(e), noColor)
		return r
	}
	var cells []lw.Value
	for cell := range e.Row.Cells.Elements() {
		cells = append(cells, cell)
	}
	for i, column := range e.Row.Columns {
		cell := ""
		if i < len(cells) {
			cell = cells[i].String()
		}
		r.add(strings.ToUpper(column), cell, noColor)
	}
	return r
}
