package published

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

func read(t *testing.T, root, document string) string {
	text, err := os.ReadFile(filepath.Join(root, document))
	require.NoError(t, err)
	return string(text)
}

func TestDocumentsContainTheLastResults(t *testing.T) {
	all, err := load(root)
	require.NoError(t, err)
	for _, document := range documents {
		text := read(t, root, document)
		updated, err := fill(document, text, all)
		require.NoError(t, err)
		for line := range strings.Lines(text) {
			require.True(t, strings.Contains(updated, line), "%s differs from bench/results in this line; run the benchmark with -write instead of editing it:\n%s", document, line)
		}
		require.True(t, updated == text, document)
	}
}

func TestBenchmarksOwnEveryTable(t *testing.T) {
	text := read(t, root, "docs/performance.md")
	var named []string
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(lines[i-1], "|") {
			match := marker.FindStringSubmatch(lines[i-1])
			require.NotNil(t, match, "no benchmark writes the table that begins with %q; add it to layout.go", line)
			named = append(named, match[1])
		}
	}
	for _, table := range tables {
		require.Contains(t, named, table.name)
	}
	require.Len(t, named, len(tables), "a table occurs twice")
}

// Every result must appear in a document, because otherwise nobody would notice if it were wrong.
func TestDocumentsUseEveryResult(t *testing.T) {
	all, err := load(root)
	require.NoError(t, err)
	for run, names := range used() {
		require.ElementsMatch(t, slices.Collect(maps.Keys(all[run])), slices.Compact(slices.Sorted(slices.Values(names))), run)
	}
	files, err := filepath.Glob(file(root, "*"))
	require.NoError(t, err)
	require.Len(t, files, len(all), "bench/results contains a file that no document uses")
}

// copied returns a temporary folder with copies of the repository's documents and results.
func copied(t *testing.T) (folder string) {
	folder = t.TempDir()
	files, err := filepath.Glob(file(root, "*"))
	require.NoError(t, err)
	for _, document := range documents {
		files = append(files, filepath.Join(root, document))
	}
	for _, path := range files {
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(read(t, root, name)), 0o600))
	}
	return folder
}

func TestSaveUpdatesTables(t *testing.T) {
	folder := copied(t)
	all, err := load(folder)
	require.NoError(t, err)
	require.NoError(t, Save(folder, "start", all["start"]))
	before := read(t, folder, documents[0])
	require.NoError(t, Save(folder, "start", all["start"]))
	require.True(t, before == read(t, folder, documents[0]), "saving the same results must not change a document")

	all["start"].Set("dialed", "listwatch", 2345.6)
	all["start"].Set("dialed", "client-go", 12345)
	require.NoError(t, Save(folder, "start", all["start"]))
	require.Contains(t, read(t, folder, documents[0]), "connections dialed | **2,346** | 12,345 |\n")
	saved, err := load(folder)
	require.NoError(t, err)
	require.Equal(t, all, saved)
}

func TestSaveUpdatesSentences(t *testing.T) {
	folder := copied(t)
	all, err := load(folder)
	require.NoError(t, err)
	all["binary"].Set("size, MB", "listwatch", 1234.5)
	all["binary"].Set("size, MB", "client-go", 7)
	require.NoError(t, Save(folder, "binary", all["binary"]))
	for _, document := range []string{"README.md", documents[0]} {
		words := strings.Join(strings.Fields(read(t, folder, document)), " ")
		require.Regexp(t, `is 1,234\.50 MB( with listwatch)?, and 7\.00 MB with client-go's dynamic informer\.`, words)
	}
	all["store"].Range("snapshot, wall time", "listwatch, ns", []float64{700, 800})
	require.NoError(t, Save(folder, "store", all["store"]))
	require.Contains(t, strings.Join(strings.Fields(read(t, folder, documents[0])), " "), "A snapshot takes 0.7 to 0.8 µs.")
}

func TestRejectsIncompleteResults(t *testing.T) {
	results := Results{}
	results.Set("size, MB", "listwatch", 7)
	require.ErrorContains(t, Check("binary", results), `the run "binary" has no figure "size, MB | client-go"`)
	require.ErrorContains(t, Check("other", results), `no figures of the run "other"`)
}

func TestEditedFiguresAreDetected(t *testing.T) {
	all, err := load(root)
	require.NoError(t, err)
	text, err := fill(documents[0], read(t, root, documents[0]), all)
	require.NoError(t, err)
	for figure, changed := range map[string]string{"| 3,733 |": "| 3,732 |", "takes 38 bytes": "takes 37 bytes", "| **2** | 6 |": "| 2 | 6 |"} {
		edited := strings.Replace(text, figure, changed, 1)
		require.True(t, text != edited, figure)
		updated, err := fill(documents[0], edited, all)
		require.NoError(t, err)
		require.True(t, text == updated, "fill must restore %q", figure)
	}
	_, err = fill("other.md", "<!--unknown-->\n| a |\n", all)
	require.ErrorContains(t, err, `no table "unknown"`)
	for _, line := range []string{"| connections dialed | **100** | 3,733 |\n", "| listwatch | client-go |"} {
		require.Contains(t, text, line)
		_, err = fill(documents[0], strings.Replace(text, line, "", 1), all)
		require.ErrorContains(t, err, `the table "start" must have 3 rows and 2 columns`)
	}
	_, err = fill("README.md", "An empty document.\n", all)
	require.ErrorContains(t, err, "does not contain the sentence")
	all["decode"].Set("CPU time", codecJSON)
	_, err = fill("README.md", read(t, root, "README.md"), all)
	require.ErrorContains(t, err, `"decode", which was not measured`)
}

func TestCells(t *testing.T) {
	results := Results{}
	one := table{goals: true, groups: "11100", columns: []string{"a", "b", "c", "ratio", goal}}
	cells := func() string { return strings.Join(one.cells(row{key: "r", format: small}, results), " ") }
	set := func(values ...float64) {
		for i, c := range one.columns[:len(values)] {
			results.Set("r", c, values[i])
		}
	}
	set(1234.4, 1234.3, 3.26, 0.123)
	require.Equal(t, "1,234 1,234 **3.3** 0.12 none", cells())
	set(1.01, 1.02, 11)
	require.Equal(t, "**1.0** **1.0** 11 0.12 none", cells(), "figures that look equal must both be bold")
	set(1, 1, 1)
	require.Equal(t, "1.0 1.0 1.0 0.12 none", cells(), "equal figures must not be bold")
	results.Set("r", "b")
	results.Set("r", "c", 2)
	results.Range("r", "ratio", []float64{0.5, 0.2, 0.3})
	results.Set("r", goal, 0.45)
	require.Equal(t, "**1.0** not measured 2.0 0.20 to 0.50, **missed** 0.45", cells())
	results.Set("r", goal, 0.5)
	require.Equal(t, "**1.0** not measured 2.0 0.20 to 0.50 0.5", cells())
}
