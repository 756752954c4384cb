package output

import (
	"bufio"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// row contains the cells of one event.
type row struct {
	headers, cells []string
	colors         []color
	columns        *columns
	titled         bool      // whether the table prints the headers
	when           time.Time // Flush sorts by this time
}

func (r *row) add(header, cell string, c color) {
	r.headers = append(r.headers, Plain(header)) // the server may supply the column names
	r.cells = append(r.cells, Plain(cell))
	r.colors = append(r.colors, c)
}

// table prints events as rows below their headers. Each column is as wide as its widest cell so far. The rows of a list
// are measured before the first row is printed.
type table struct {
	opts    *Options
	row     func(*Event) row
	known   map[string]*columns // keyed by the headers
	pending []row
}

// columns contains the headers and widths that rows with the same headers share.
type columns struct {
	widths []int
	titled bool // whether the headers must still be printed
}

func newTable(opts *Options, row func(*Event) row) *table {
	return &table{opts: opts, row: row, known: map[string]*columns{}}
}

// Print implements [Format].
func (t *table) Print(_ *bufio.Writer, e *Event) {
	r := t.row(e)
	key := strings.Join(r.headers, "\n")
	r.columns = t.known[key]
	if r.columns == nil {
		r.columns = &columns{widths: make([]int, len(r.headers)), titled: r.titled && !t.opts.NoHeaders}
		if r.columns.titled {
			r.columns.widen(r.headers)
		}
		if at := slices.Index(r.headers, "EVENT"); at >= 0 {
			r.columns.widths[at] = len("MODIFIED") // the longest event type
		}
		t.known[key] = r.columns
	}
	r.columns.widen(r.cells)
	t.pending = append(t.pending, r)
}

// Flush implements [Flusher].
func (t *table) Flush(out *bufio.Writer) {
	slices.SortStableFunc(t.pending, func(a, b row) int { return a.when.Compare(b.when) })
	for _, r := range t.pending {
		if r.columns.titled {
			r.columns.titled = false
			out.WriteString(r.columns.line(r.headers, nil, t.opts) + "\n")
		}
		out.WriteString(r.columns.line(r.cells, r.colors, t.opts) + "\n")
	}
	clear(t.pending)
	t.pending = t.pending[:0]
}

func (c *columns) widen(cells []string) {
	for i, cell := range cells {
		c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
	}
}

// columnGap is the number of spaces between columns.
const columnGap = 3

// line aligns the cells of a row and omits empty cells at its end. colors may be nil.
func (c *columns) line(cells []string, colors []color, opts *Options) string {
	last := len(cells) - 1
	for last > 0 && cells[last] == "" {
		last--
	}
	var text strings.Builder
	for i, cell := range cells[:last+1] {
		if colors != nil {
			text.WriteString(opts.colorize(colors[i], cell))
		} else {
			text.WriteString(cell)
		}
		if i < last {
			text.WriteString(strings.Repeat(" ", max(1, c.widths[i]+columnGap-utf8.RuneCountInString(cell))))
		}
	}
	return text.String()
}

// color is a terminal color as SGR parameters.
type color string

const (
	noColor color = ""
	red     color = "31"
	green   color = "32"
	yellow  color = "33"
	faint   color = "2"
)

// colorize wraps a string in a color if colors are enabled.
func (o *Options) colorize(c color, text string) string {
	if !o.Color || c == noColor || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func typeColor(t lw.EventType) color {
	switch t {
	case lw.Added:
		return green
	case lw.Modified:
		return yellow
	case lw.Deleted:
		return red
	}
	return faint
}
