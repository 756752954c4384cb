// Package published keeps benchmark results in bench/results, and copies them into the documents. Its test fails if a
// figure in a document differs from the last saved result.
//
// Comments in a document name the document's figures, so there is no separate list of figures. Each table follows a
// comment with the name of a run. In the table, the first cell of a row and the header of a column name a figure:
//
//	<!--start-->
//	| | listwatch | client-go |
//	| --- | --- | --- |
//	| connections dialed | 100 | 3,733 |
//
// In a sentence, a comment with the names of the run, the row and the column follows each figure:
//
//	listwatch dials 100<!--start: connections dialed | listwatch--> connections.
package published

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// documents lists the documents that contain figures.
var documents = []string{"docs/performance.md", "wasm/README.md", "README.md"}

// Results contains a run's figures by name, in the unit that the document uses. A figure is a single value, or the
// lowest and the highest value over several rounds. An empty slice means that the figure cannot be measured.
type Results map[string][]float64

// Set sets the figure in a table's row and column.
func (r Results) Set(row, column string, values ...float64) {
	r[name(row, column)] = append([]float64{}, values...)
}

// Get returns the figure in a table's row and column.
func (r Results) Get(row, column string) []float64 { return r[name(row, column)] }

// Range sets a figure to the lowest and the highest of the values.
func (r Results) Range(row, column string, values []float64) {
	r.Set(row, column, slices.Min(values), slices.Max(values))
}

// Ratios sets a figure to the lowest and the highest ratio between values with the same index.
func (r Results) Ratios(row, column string, values, divisors []float64) {
	ratios := make([]float64, len(values))
	for i, value := range values {
		ratios[i] = value / divisors[i]
	}
	r.Range(row, column, ratios)
}

// name returns the name of a figure. It removes backquotes, because documents use them to mark code.
func name(row, column string) string { return strings.ReplaceAll(row+" | "+column, "`", "") }

// Save replaces the results of a run in bench/results, and updates the documents under root. It saves only figures that
// a document contains. If the results lack one of these figures, Save returns an error and writes nothing.
func Save(root, run string, results Results) error {
	texts, used, err := update(root, run, results)
	if err != nil {
		return err
	}
	text, err := json.Marshal(used)
	if err != nil {
		return err
	}
	// One line per figure, so that a diff between two runs is readable.
	lines := strings.NewReplacer(`{`, "{\n  ", `":`, `": `, `],`, "],\n  ", `}`, "\n}\n").Replace(string(text))
	if err := os.WriteFile(file(root, run), []byte(lines), 0o644); err != nil {
		return err
	}
	for document, text := range texts {
		if err := os.WriteFile(filepath.Join(root, document), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error if the results lack a figure that a document under root contains.
func Check(root, run string, results Results) error {
	_, _, err := update(root, run, results)
	return err
}

func file(root, run string) string { return filepath.Join(root, "bench", "results", run+".json") }

// update returns each document's text with the figures of one run inserted, and those figures that the documents use.
func update(root, run string, results Results) (texts map[string]string, used Results, err error) {
	texts, used = map[string]string{}, Results{}
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			return nil, nil, err
		}
		texts[document] = fill(string(text), run, func(figure string) []float64 {
			values, ok := results[figure]
			if !ok {
				err = fmt.Errorf("%s contains the figure %q, which the run %q did not measure", document, figure, run)
			}
			used[figure] = values
			return values
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if len(used) == 0 {
		return nil, nil, fmt.Errorf("no document contains a figure of the run %q", run)
	}
	return texts, used, nil
}

var (
	// marker matches the comment before a table.
	marker = regexp.MustCompile(`^<!--([a-z]+)-->\n$`)
	// inSentence matches a figure in a sentence and its comment.
	inSentence = regexp.MustCompile(`(?:not measured|[\d.,]+(?:\s+to\s+[\d.,]+)?)(<!--([a-z]+): ([^|>]+) \| ([^>]+)-->)`)
)

// fill returns a document's text with the figures of one run inserted.
func fill(text, run string, get func(figure string) []float64) string {
	lines := strings.SplitAfter(text, "\n")
	table, header := "", []string(nil) // run and header of the current table
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		switch match := marker.FindStringSubmatch(line); {
		case match != nil:
			table, header = match[1], nil
		case !strings.HasPrefix(line, "|"):
			table = ""
		case table != run || strings.HasPrefix(line, "| ---"):
		case header == nil:
			header = cells
		default:
			lines[i] = fillRow(cells[0], header[1:], get)
		}
	}
	return inSentence.ReplaceAllStringFunc(strings.Join(lines, ""), func(old string) string {
		match := inSentence.FindStringSubmatch(old)
		if match[2] != run {
			return old
		}
		return show(get(name(match[3], match[4]))) + match[1]
	})
}

// fillRow returns a table row with the figures inserted. The row may contain a goal, which is the highest acceptable
// ratio. fillRow marks the ratios that exceed the goal.
func fillRow(row string, columns []string, get func(figure string) []float64) string {
	var goal []float64
	if slices.Contains(columns, "goal") {
		goal = get(name(row, "goal"))
	}
	line := "| " + row
	for _, column := range columns {
		values := get(name(row, column))
		if column == "goal" && len(values) == 0 {
			line += " | none"
			continue
		}
		line += " | " + show(values)
		if strings.HasPrefix(column, "ratio") && len(goal) > 0 && len(values) > 0 && slices.Max(values) > goal[0] {
			line += ", **missed**"
		}
	}
	return line + " |\n"
}

// show returns a single value, or a range such as "0.2 to 0.3".
func show(values []float64) string {
	if len(values) == 0 {
		return "not measured"
	}
	low, high := format(values[0]), format(values[len(values)-1])
	if low == high {
		return low
	}
	return low + " to " + high
}

// format returns a number with at most two significant digits, because measurements are not more precise. Larger numbers have
// all digits before the decimal point, and separators between thousands.
func format(v float64) string {
	if v < 10 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	text := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
