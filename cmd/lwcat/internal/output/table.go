package output

import (
	"bufio"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// row is one event as cells.
type row struct {
	resource       string
	headers, cells []string
}

func (r *row) add(header, cell string) {
	r.headers = append(r.headers, header)
	r.cells = append(r.cells, plain(cell))
}

// plain makes of a text one line that does nothing to a terminal.
func plain(text string) string {
	if strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return '�'
		}
		return r
	}, text)
}

// table prints events as rows, beneath a line of headers for each resource. Columns are as wide as their widest cell so far;
// those of a list are known before the first of its rows is printed.
type table struct {
	opts    *Options
	row     func(*Event) (row, error)
	known   map[string]*columns // by resource
	pending []row
}

// columns are those of one resource.
type columns struct {
	headers []string
	widths  []int
	printed bool // the headers are
}

func newTable(opts *Options, row func(*Event) (row, error)) *table {
	return &table{opts: opts, row: row, known: map[string]*columns{}}
}

// Print implements [Format].
func (t *table) Print(out *bufio.Writer, e *Event) error {
	r, err := t.row(e)
	if err != nil {
		return err
	}
	r.resource = e.Resource
	c := t.known[r.resource]
	if c == nil || !slices.Equal(c.headers, r.headers) {
		t.Flush(out) // while the columns before are known
		c = &columns{headers: r.headers, widths: make([]int, len(r.headers)), printed: t.opts.NoHeaders}
		if !c.printed {
			c.fit(r.headers)
		}
		t.known[r.resource] = c
	}
	c.fit(r.cells)
	t.pending = append(t.pending, r)
	return nil
}

// Flush implements [Flusher].
func (t *table) Flush(out *bufio.Writer) {
	for _, r := range t.pending {
		c := t.known[r.resource]
		if !c.printed {
			c.printed = true
			c.print(out, c.headers)
		}
		c.print(out, r.cells)
	}
	clear(t.pending)
	t.pending = t.pending[:0]
}

func (c *columns) fit(cells []string) {
	for i, cell := range cells {
		c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
	}
}

func (c *columns) print(out *bufio.Writer, cells []string) {
	for i, cell := range cells {
		if i == len(cells)-1 {
			out.WriteString(cell)
		} else {
			pad(out, cell, c.widths[i]+3)
		}
	}
	out.WriteByte('\n')
}
