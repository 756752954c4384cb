package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/jsonpath"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// customColumn is a column of the custom-columns format.
type customColumn struct {
	header string
	path   *jsonpath.Path
}

func (c *customColumn) cell(object lw.Value) string {
	var values []string
	for value := range c.path.Find(object) {
		if text := value.String(); text != "" {
			values = append(values, text)
		}
	}
	if values == nil {
		return "<none>"
	}
	return strings.Join(values, ",")
}

// newCustomColumns returns the format for columns such as "NAME:.metadata.name,PHASE:.status.phase".
func newCustomColumns(text string, opts *Options) (Format, error) {
	var columns []customColumn
	for _, spec := range splitSpecs(strings.TrimSpace(text)) {
		header, path, found := strings.Cut(spec, ":")
		if !found || header == "" {
			return nil, fmt.Errorf("expected a column such as NAME:.metadata.name, not %q", spec)
		}
		parsed, err := jsonpath.ParsePath(path)
		if err != nil {
			return nil, err
		}
		columns = append(columns, customColumn{header, parsed})
	}
	if columns == nil {
		return nil, errors.New("expected at least one column")
	}
	return newTable(opts, func(e *Event) row { return customRow(columns, e, opts) }), nil
}

func customRow(columns []customColumn, e *Event, opts *Options) (r row) {
	r.titled = true
	if opts.Types {
		r.add("EVENT", e.Type.String(), typeColor(e.Type))
	}
	for _, c := range columns {
		r.add(c.header, c.cell(e.Object.Get("")), noColor)
	}
	return r
}

// splitSpecs splits a string at commas outside brackets and quotes.
func splitSpecs(text string) (specs []string) {
	depth, quote, start := 0, rune(0), 0
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == ',' && depth == 0:
			specs = append(specs, text[start:i])
			start = i + 1
		}
	}
	return slices.DeleteFunc(append(specs, text[start:]), func(s string) bool { return s == "" })
}
