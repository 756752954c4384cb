// Package published keeps benchmark results in bench/results, and copies them into the documents. layout.go
// declares which figures each table and each sentence contains.
//
// Its test fails if a figure in a document differs from the last saved result.
package published

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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

func name(row, column string) string { return row + " | " + column }

// Check returns an error if results lacks a figure that the documents contain. run is the name of a file in bench/results.
func Check(run string, results Results) error {
	names := used()[run]
	if names == nil {
		return fmt.Errorf("layout.go contains no figures of the run %q", run)
	}
	for _, figure := range names {
		if _, ok := results[figure]; !ok {
			return fmt.Errorf("the run %q has no figure %q, but layout.go contains it", run, figure)
		}
	}
	return nil
}

// Save replaces a run's results, and updates the figures in the documents under root.
func Save(root, run string, results Results) error {
	if err := Check(run, results); err != nil {
		return err
	}
	text, err := encode(run, results)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file(root, run), text, 0o644); err != nil {
		return err
	}
	all, err := load(root)
	if err != nil {
		return err
	}
	for _, document := range documents {
		path := filepath.Join(root, document)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		updated, err := fill(document, string(text), all)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// encode returns the figures that the documents contain as JSON, with one line per figure.
func encode(run string, results Results) ([]byte, error) {
	kept := Results{}
	for _, figure := range used()[run] {
		kept[figure] = results[figure]
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	lines := strings.NewReplacer(`{`, "{\n  ", `":`, `": `, `],`, "],\n  ", `}`, "\n}\n").Replace(string(text))
	return []byte(lines), nil
}

func file(root, run string) string { return filepath.Join(root, "bench", "results", run+".json") }

// used returns the names of all figures in the documents. The keys are runs.
func used() map[string][]string {
	all := map[string][]string{}
	for _, t := range tables {
		for _, r := range t.rows {
			for _, c := range t.columns {
				all[r.run] = append(all[r.run], name(r.key, c))
			}
			if t.goals {
				all[r.run] = append(all[r.run], name(r.key, goal))
			}
		}
	}
	for _, q := range quotes {
		for _, f := range q.figures {
			all[f.run] = append(all[f.run], name(f.row, f.column))
		}
	}
	return all
}

// load reads the results of all runs.
func load(root string) (map[string]Results, error) {
	all := map[string]Results{}
	for run := range used() {
		text, err := os.ReadFile(file(root, run))
		if err != nil {
			return nil, err
		}
		var results Results
		if err := json.Unmarshal(text, &results); err != nil {
			return nil, fmt.Errorf("%s: %w", file(root, run), err)
		}
		if err := Check(run, results); err != nil {
			return nil, err
		}
		all[run] = results
	}
	return all, nil
}

// fill returns a document's text with updated figures. A comment with a table's name precedes each table that has
// figures.
func fill(document, text string, all map[string]Results) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		match := marker.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		at := slices.IndexFunc(tables, func(t table) bool { return t.name == match[1] })
		if at < 0 {
			return "", fmt.Errorf("%s: layout.go contains no table %q", document, match[1])
		}
		old := lines[i+1:]
		if end := slices.IndexFunc(old, func(line string) bool { return !strings.HasPrefix(line, "|") }); end >= 0 {
			old = old[:end]
		}
		filled, err := tables[at].fill(old, all)
		if err != nil {
			return "", fmt.Errorf("%s: %w", document, err)
		}
		copy(old, filled)
	}
	text = strings.Join(lines, "")
	for _, q := range quotes {
		if q.document != document {
			continue
		}
		match := q.pattern().FindStringSubmatchIndex(text)
		if match == nil {
			return "", fmt.Errorf("%s does not contain the sentence %q of layout.go", document, q.text)
		}
		for i, f := range slices.Backward(q.figures) { // a replacement moves only the text behind it
			if len(all[f.run][name(f.row, f.column)]) == 0 {
				return "", fmt.Errorf("%s needs the figure %q of the run %q, which was not measured", document, name(f.row, f.column), f.run)
			}
			from, to := match[2*i+2], match[2*i+3]
			if shown := f.show(all); shown != strings.Join(strings.Fields(text[from:to]), " ") { // keeps line breaks
				text = text[:from] + shown + text[to:]
			}
		}
	}
	return text, nil
}

// marker matches the comment before a table that [Save] updates.
var marker = regexp.MustCompile(`^<!--([a-z]+)-->\n$`)
