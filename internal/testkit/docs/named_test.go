package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testSpan = regexp.MustCompile(`^([a-z0-9/]+)/((?:Test|Fuzz|Example|Benchmark)\w*)$`)
	fileSpan = regexp.MustCompile(`^[\w./-]+/[\w.-]+\.(?:go|mjs|js|ts|md|txtar|sh)$`)
)

// missing returns an error if name looks like the name of a test, for example lw/TestList, or like a file path, but no
// such test or file exists. A path may be relative to the repository's root or to file's folder.
func missing(file, name string) error {
	if match := testSpan.FindStringSubmatch(name); match != nil {
		if !hasTest(match[1], "Test|Fuzz|Example|Benchmark", "^"+match[2]+"$") {
			return fmt.Errorf("%s: test %s does not exist", file, name)
		}
	} else if fileSpan.MatchString(name) && !strings.HasPrefix(name, "bin/") {
		_, err := os.Stat(filepath.Join(root, name))
		if _, beside := os.Stat(filepath.Join(filepath.Dir(file), name)); err != nil && beside != nil {
			return fmt.Errorf("%s: file %s does not exist", file, name)
		}
	}
	return nil
}

func TestMentionedTestsAndFilesExist(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	for _, file := range files {
		for _, span := range Span.FindAllStringSubmatch(prose(t, file), -1) {
			if filepath.Base(file) != "CHANGELOG.md" { // the changelog may mention deleted tests and files
				require.NoError(t, missing(file, span[1]))
			}
		}
	}
}

func TestMentionedIdentifiersExist(t *testing.T) {
	compiler, err := NewCompiler(root, Module{Names: Names()}, nil)
	require.NoError(t, err)
	files, err := Files(root)
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		text := prose(t, file)
		if filepath.Base(file) == "CHANGELOG.md" {
			continue
		}
		for _, row := range Tables(text) {
			if row.Header[0] == "client-go" {
				text = strings.Replace(text, row.Cells[0], "", 1)
			}
		}
		for _, span := range Span.FindAllStringSubmatch(text, -1) {
			is, err := compiler.Find(span[1])
			require.NoError(t, err, "%s: %s", file, span[1])
			if is {
				found++
			}
		}
	}
	require.Greater(t, found, 100)
	_, err = compiler.Find("cache.Store.Nothing")
	require.ErrorContains(t, err, "has no Nothing")
	_, err = compiler.Find("cache.Nothing{}")
	require.ErrorContains(t, err, "has no Nothing")
}

// In a table whose last column is "tests", every row must name a test or a test file.
func TestEveryGuaranteeHasATest(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	promises := 0
	for _, file := range files {
		for _, row := range Tables(prose(t, file)) {
			if last := len(row.Cells) - 1; row.Header[last] == "tests" {
				promises++
				require.NoError(t, named(file, row.Text, row.Cells[last]))
			}
		}
	}
	require.Greater(t, promises, 60)
}

func named(file, line, tests string) error {
	names := Span.FindAllStringSubmatch(tests, -1)
	for _, name := range names {
		if !testSpan.MatchString(name[1]) && !fileSpan.MatchString(name[1]) {
			return fmt.Errorf("%s: %s is not a test: %s", file, name[1], line)
		}
	}
	if names == nil {
		return fmt.Errorf("%s: the row does not name a test: %s", file, line)
	}
	return nil
}

func TestWrongNamesFail(t *testing.T) {
	for _, name := range []string{"lw/TestNothing", "nowhere/TestList", "docs/nothing.md", "lw/nothing_test.go"} {
		require.ErrorContains(t, missing(root+"/docs/doc.md", name), " does not exist")
	}
	for _, name := range []string{"lw/TestList", "lw/FuzzList", "lw/client_test.go", "docs/concepts.md", "bin/screenshots/", "a.b"} {
		require.NoError(t, missing(root+"/docs/doc.md", name))
	}
	require.ErrorContains(t, named("doc.md", "", " nothing "), "the row does not name a test")
	require.ErrorContains(t, named("doc.md", "", "`lw`"), "lw is not a test")
}
