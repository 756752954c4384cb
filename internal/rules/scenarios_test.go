package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testName = regexp.MustCompile("`([a-z0-9/]+)/((?:Test|Fuzz|Example)\\w+)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w+)\(`)
)

// testsOf returns the names of a folder's tests.
func testsOf(t *testing.T, folder string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	require.NoError(t, err)
	tests := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range testFunc.FindAllSubmatch(text, -1) {
			tests[string(match[1])] = true
		}
	}
	return tests
}

// TestScenariosHaveTheirTests: every row of the tables of scenarios names tests, and all of them exist.
func TestScenariosHaveTheirTests(t *testing.T) {
	tables, err := filepath.Glob(filepath.Join(root, "*", "doc_scenarios.md"))
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	folders := map[string]map[string]bool{}
	for _, table := range tables {
		text, err := os.ReadFile(table)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| scenario ") || strings.HasPrefix(line, "| --- ") {
				continue
			}
			names := testName.FindAllStringSubmatch(line, -1)
			require.NotEmpty(t, names, "no test: %s", line)
			for _, name := range names {
				folder := name[1]
				if folders[folder] == nil {
					folders[folder] = testsOf(t, folder)
				}
				require.True(t, folders[folder][name[2]], "%s names %s, which is not in %s", table, name[2], folder)
			}
		}
	}
}
