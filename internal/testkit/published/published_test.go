package published

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
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

func load(t *testing.T, root, run string) (results Results) {
	text, err := os.ReadFile(file(root, run))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &results))
	return results
}

// runs returns the names of all saved runs.
func runs(t *testing.T) (names []string) {
	files, err := filepath.Glob(file(root, "*"))
	require.NoError(t, err)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	return names
}

func TestDocumentsContainTheLastResults(t *testing.T) {
	for _, run := range runs(t) {
		results := load(t, root, run)
		texts, used, err := update(root, run, results)
		require.NoError(t, err)
		// Every result must appear in a document, because nobody would notice a mistake in a hidden result.
		require.Equal(t, used, results, "bench/results/%s.json contains a figure that no document contains", run)
		for document, updated := range texts {
			text := read(t, root, document)
			for line := range strings.Lines(text) {
				require.True(t, strings.Contains(updated, line), "%s differs from bench/results/%s.json in this line; run the benchmark with -write instead of editing it:\n%s", document, run, line)
			}
			require.True(t, updated == text, document)
		}
	}
}

func TestEveryNamedRunIsSaved(t *testing.T) {
	var named []string
	for _, document := range documents {
		for _, match := range regexp.MustCompile(`<!--([a-z]+)(?:: |-->)`).FindAllStringSubmatch(read(t, root, document), -1) {
			named = append(named, match[1])
		}
	}
	require.Equal(t, runs(t), slices.Compact(slices.Sorted(slices.Values(named))))
}

func TestBenchmarksOwnEveryTable(t *testing.T) {
	lines := strings.SplitAfter(read(t, root, "docs/performance.md"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(lines[i-1], "|") {
			require.Regexp(t, marker, lines[i-1], "no benchmark writes the table that begins with %q; add a comment with a run's name", line)
		}
	}
}

// A comment with a mistake in its form would make fill skip the figure silently.
func TestEveryCommentNamesAFigure(t *testing.T) {
	for _, document := range documents {
		text := read(t, root, document)
		figures := len(inSentence.FindAllString(text, -1)) + len(regexp.MustCompile(`(?m)^<!--[a-z]+-->$`).FindAllString(text, -1))
		require.Equal(t, strings.Count(text, "<!--"), figures, document)
	}
}

// copied returns a temporary folder with copies of the repository's documents.
func copied(t *testing.T) (folder string) {
	folder = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Dir(file(folder, "")), 0o700))
	for _, document := range documents {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, document)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, document), []byte(read(t, root, document)), 0o600))
	}
	return folder
}

func TestSaveUpdatesTables(t *testing.T) {
	folder, results := copied(t), load(t, root, "start")
	require.NoError(t, Save(folder, "start", results))
	require.True(t, read(t, root, documents[0]) == read(t, folder, documents[0]), "saving the same results must not change a document")
	require.Equal(t, read(t, root, "bench/results/start.json"), read(t, folder, "bench/results/start.json"))

	results.Set("connections dialed", "listwatch", 2345.6)
	results.Set("connections dialed", "client-go", 12345)
	results.Set("a figure that no document contains", "listwatch", 1)
	require.NoError(t, Save(folder, "start", results))
	require.Contains(t, read(t, folder, documents[0]), "| connections dialed | 2,346 | 12,345 |\n")
	delete(results, "a figure that no document contains | listwatch")
	require.Equal(t, results, load(t, folder, "start"))
}

// If fill ignored an empty header cell, it would omit the first column of figures.
func TestTableMayLackTheFirstHeader(t *testing.T) {
	text := "<!--start-->\n| | kubectl | lwcat |\n| --- | --- | --- |\n| CPU time | 0 | 0 |\n"
	filled := fill(text, "start", func(figure string) []float64 {
		return map[string][]float64{"CPU time | kubectl": {2}, "CPU time | lwcat": {1}}[figure]
	})
	require.Equal(t, strings.ReplaceAll(text, "| 0 | 0 |", "| 2 | 1 |"), filled)
}

func TestSaveUpdatesSentences(t *testing.T) {
	folder, results := copied(t), load(t, root, "binary")
	results.Set("size, MB", "listwatch", 1234.5)
	results.Set("size, MB", "client-go", 7)
	require.NoError(t, Save(folder, "binary", results))
	words := strings.Join(strings.Fields(read(t, folder, "README.md")), " ")
	require.Contains(t, words, "is 1,234<!--binary: size, MB | listwatch--> MB, and 7<!--binary: size, MB | client-go--> MB")
	require.Contains(t, read(t, folder, documents[0]), "| size, MB | 1,234 | 7 |\n")
	for _, shown := range []string{"700 to 800", "not measured", "0.5"} { // each format must be replaceable again
		results = load(t, root, "store")
		results.Set("snapshot, wall time", "listwatch, ns", map[string][]float64{"700 to 800": {700, 800}, "0.5": {0.5}}[shown]...)
		require.NoError(t, Save(folder, "store", results))
		require.Contains(t, read(t, folder, documents[0]), "A snapshot takes "+shown+"<!--store: snapshot, wall time | listwatch, ns--> ns.")
	}
}

func TestRejectsIncompleteResults(t *testing.T) {
	folder, results := copied(t), load(t, root, "binary")
	delete(results, "size, MB | client-go")
	for _, err := range []error{Check(folder, "binary", results), Save(folder, "binary", results)} {
		require.ErrorContains(t, err, `contains the figure "size, MB | client-go", which the run "binary" did not measure`)
	}
	require.ErrorContains(t, Check(folder, "other", results), `no document contains a figure of the run "other"`)
	require.NoFileExists(t, file(folder, "binary"))
}

func TestEditedFiguresAreDetected(t *testing.T) {
	for run, figures := range map[string]map[string]string{
		"start":   {"| 3,733 |": "| 3,732 |", "| 100 | 1,012 |": "| 100 |", "| 3.1 | 26 |": "| 3.1 | 26 | 26 |"},
		"store":   {"38<!--": "37<!--"},
		"typed":   {", **missed**": ""},
		"million": {"<!--million: CPU": "1<!--million: CPU"}, // one more digit
	} {
		results := load(t, root, run)
		text := read(t, root, documents[0])
		for figure, changed := range figures {
			require.True(t, strings.Contains(text, figure), figure)
			edited := strings.Replace(text, figure, changed, 1)
			restored := fill(edited, run, func(figure string) []float64 { return results[figure] })
			require.True(t, text == restored, "fill must restore %q", figure)
		}
	}
}

func TestRows(t *testing.T) {
	results := Results{}
	row := func() string {
		return fillRow("r", []string{"a", "`b`", "ratio", "goal"}, func(figure string) []float64 { return results[figure] })
	}
	results.Set("r", "a", 1234.4)
	results.Set("`r`", "b", 3.26)
	results.Set("r", "ratio", 0.123)
	require.Equal(t, "| r | 1,234 | 3.3 | 0.12 | none |\n", row())
	results.Set("r", "a")
	results.Set("r", "b", 2.001, 2.002)
	results.Range("r", "ratio", []float64{0.5, 0.2, 0.3})
	results.Set("r", "goal", 0.45)
	require.Equal(t, "| r | not measured | 2 | 0.2 to 0.5, **missed** | 0.45 |\n", row())
	results.Set("r", "goal", 0.5)
	require.Equal(t, "| r | not measured | 2 | 0.2 to 0.5 | 0.5 |\n", row())
	results.Ratios("r", "ratio", []float64{1, 9}, []float64{2, 1000})
	require.Equal(t, "| r | not measured | 2 | 0.009 to 0.5 | 0.5 |\n", row())
}

func TestFormat(t *testing.T) {
	for value, text := range map[float64]string{0: "0", 0.0166: "0.017", 0.00384: "0.0038", 1: "1", 1.04: "1", 9.94: "9.9", 9.96: "10", 11.9: "12", 999.5: "1,000", 1234567: "1,234,567"} {
		require.Equal(t, text, format(value))
	}
}
