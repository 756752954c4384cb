package published

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table describes the figures in a document's table. The document itself contains the header and the first column.
type table struct {
	name    string
	goals   bool     // whether each row has a maximum for its ratios
	groups  string   // a digit for each column; the lowest figure among columns with the same digit is bold, except for 0
	columns []string // keys of the columns
	rows    []row
}

// row describes the figures in a row. A figure's name consists of the keys of its row and its column.
type row struct {
	run, key string
	format   format
}

// goal is the key for figures that contain a maximum.
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

// fill returns the table's lines with updated figures.
func (t table) fill(lines []string, all map[string]Results) (filled []string, err error) {
	if len(lines) != 2+len(t.rows) || strings.Count(lines[0], " | ") != len(t.columns) {
		return nil, fmt.Errorf("the table %q must have %d rows and %d columns with figures, like in layout.go", t.name, len(t.rows), len(t.columns))
	}
	filled = slices.Clone(lines)
	for i, r := range t.rows {
		quantity, _, _ := strings.Cut(lines[2+i], " | ")
		filled[2+i] = quantity + " | " + strings.Join(t.cells(r, all[r.run]), " | ") + " |\n"
	}
	return filled, nil
}

func (t table) cells(r row, results Results) (cells []string) {
	maximum := results.Get(r.key, goal)
	for i, column := range t.columns {
		values, f := results.Get(r.key, column), r.format
		judged := t.goals && strings.HasPrefix(column, "ratio")
		if judged {
			f = hundredths
		}
		switch {
		case column == goal && len(values) == 0:
			cells = append(cells, "none")
		case column == goal:
			cells = append(cells, shortest(values[0]))
		case len(values) == 0:
			cells = append(cells, "not measured")
		case judged && len(maximum) > 0 && slices.Max(values) > maximum[0]:
			cells = append(cells, f.show(values)+", **missed**")
		case t.isBest(r, i, results):
			cells = append(cells, "**"+f.show(values)+"**")
		default:
			cells = append(cells, f.show(values))
		}
	}
	return cells
}

// isBest reports whether the cell has the lowest figure in its group and isn't tied with every other cell.
func (t table) isBest(r row, cell int, results Results) (best bool) {
	if t.groups == "" || t.groups[cell] == '0' {
		return false
	}
	own := results.Get(r.key, t.columns[cell])
	for i, column := range t.columns {
		values := results.Get(r.key, column)
		if t.groups[i] != t.groups[cell] || len(values) == 0 || r.format.show(values) == r.format.show(own) {
			continue
		}
		if values[0] < own[0] {
			return false
		}
		best = true
	}
	return best
}

// quote is a sentence in a document, with a %s for each figure.
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
