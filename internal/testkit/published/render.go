package published

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table is a table in a document. Each row shows figures of one run.
type table struct {
	name    string
	title   string // header of the first column
	columns []column
	rows    []row
	goals   bool // whether each row has a maximum for the columns with goals; see [column]
}

// column is a column with figures. The lowest figures of a row are bold among the columns with the same group.
type column struct {
	title, key string
	group      int    // columns in group zero are not compared
	format     format // replaces the format of the rows; may be nil
	empty      string // text for a figure that cannot be measured; the default is "not measured"
	judged     bool   // whether a figure above the goal of its row is marked as missed
}

// row is a row of a table. The name of each figure consists of the keys of its row and its column.
type row struct {
	run, key, quantity string
	format             format
}

// goal is the key of the figures that contain a maximum.
const goal = "goal"

// format formats a value.
type format func(float64) string

// digits returns a format with a fixed number of decimals, and with thousands separators.
func digits(decimals int) format {
	return func(v float64) string {
		text := strconv.FormatFloat(v, 'f', decimals, 64)
		whole, rest, _ := strings.Cut(text, ".")
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
		return strings.TrimSuffix(whole+"."+rest, ".")
	}
}

// below returns a format that has more decimals for values below a limit.
func below(limit float64, decimals int, otherwise format) format {
	return func(v float64) string {
		if v < limit {
			return digits(decimals)(v)
		}
		return otherwise(v)
	}
}

// oneDigit is a format with one significant digit.
func oneDigit(v float64) string { return strconv.FormatFloat(v, 'g', 1, 64) }

// show returns a single value, or a range such as "0.2 to 0.3".
func (f format) show(values []float64) string {
	low, high := f(values[0]), f(values[len(values)-1])
	if low == high {
		return low
	}
	return low + " to " + high
}

// render returns the lines of the table.
func (t table) render(all map[string]Results) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	header, rule := []string{t.title}, []string{"---"}
	for _, c := range t.columns {
		header, rule = append(header, c.title), append(rule, "---")
	}
	line(header)
	line(rule)
	for _, r := range t.rows {
		line(append([]string{r.quantity}, t.cells(r, all[r.run])...))
	}
	return b.String()
}

func (t table) cells(r row, results Results) (cells []string) {
	for _, c := range t.columns {
		values, f := results[name(r.key, c.key)], r.format
		if c.format != nil {
			f = c.format
		}
		switch {
		case len(values) == 0 && c.empty != "":
			cells = append(cells, c.empty)
		case len(values) == 0:
			cells = append(cells, "not measured")
		case c.judged && len(results[name(r.key, goal)]) > 0 && slices.Max(values) > results[name(r.key, goal)][0]:
			cells = append(cells, f.show(values)+", **missed**")
		case t.isBest(r, c, results):
			cells = append(cells, "**"+f.show(values)+"**")
		default:
			cells = append(cells, f.show(values))
		}
	}
	return cells
}

// isBest reports whether the cell shows the lowest figure of its group, and another cell of the group shows a higher figure.
func (t table) isBest(r row, c column, results Results) bool {
	own := results[name(r.key, c.key)]
	if c.group == 0 {
		return false
	}
	higher := false
	for _, other := range t.columns {
		values := results[name(r.key, other.key)]
		if other.group != c.group || len(values) == 0 || r.format.show(values) == r.format.show(own) {
			continue
		}
		if values[0] < own[0] {
			return false
		}
		higher = true
	}
	return higher
}

// quote is a sentence of a document, with a %s for each figure.
type quote struct {
	document, text string
	figures        []quoted
}

// pattern matches the sentence. It has a group for each figure. Lines may end between words.
func (q quote) pattern() *regexp.Regexp {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(q.text), " ", `\s+`)
	return regexp.MustCompile(strings.ReplaceAll(pattern, "%s", `([\d.,]+(?:\s+to\s+[\d.,]+)?)`))
}

type quoted struct {
	run, row, column string
	format           format
}

func (f quoted) show(all map[string]Results) string {
	return f.format.show(all[f.run][name(f.row, f.column)])
}
