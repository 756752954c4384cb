package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// known contains programs that the tests do not run, because they are slow or not part of this repository. For make and
// go, a function checks the arguments instead.
var known = map[string]func(folder string, words []string) error{
	"make":    makes,
	"go":      goes,
	"kubectl": nil,
	"npm":     nil,
	"npx":     nil,
	"git":     nil,
	"sudo":    nil,
}

// exists reports whether known contains all programs in a command line. It returns an error if an argument names a
// target, package or test that is missing. folder is the document's folder.
func exists(folder, text string) (isKnown bool, err error) {
	if _, err := os.Stat(filepath.Join(root, folder, "go.mod")); err != nil {
		folder = "."
	}
	text, _, _ = strings.Cut(text, " #")
	for part := range strings.SplitSeq(text, "&&") {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") { // skips environment variables
			words = words[1:]
		}
		if len(words) == 2 && words[0] == "cd" {
			folder = filepath.Join(folder, words[1])
			if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
				return true, err
			}
			continue
		}
		if len(words) == 0 {
			return false, nil
		}
		look, ok := known[words[0]]
		if !ok {
			return false, nil
		}
		if look != nil {
			if err := look(folder, words[1:]); err != nil {
				return true, fmt.Errorf("%s: %w", text, err)
			}
		}
	}
	return true, nil
}

// makes returns an error if a target or variable in words, the arguments of make, is not in the Makefile of folder.
func makes(folder string, words []string) error {
	text, err := os.ReadFile(filepath.Join(root, folder, "Makefile"))
	if err != nil {
		return err
	}
	for _, word := range words {
		name, _, variable := strings.Cut(word, "=")
		if variable && !regexp.MustCompile(`\b`+name+`\b`).Match(text) {
			return errors.New("the Makefile has no variable " + name)
		}
		if !variable && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`( [a-z0-9-]+)*:`).Match(text) {
			return errors.New("the Makefile has no target " + name)
		}
	}
	return nil
}

// goes returns an error if words, the arguments of go, contain a package or test that does not exist.
func goes(folder string, words []string) error {
	var packages []string
	for _, word := range words {
		if bare, ours := strings.CutPrefix(word, module); ours {
			packages = append(packages, strings.TrimSuffix(bare, "@latest"))
		} else if strings.HasPrefix(word, "./") {
			packages = append(packages, filepath.Join(folder, word))
		}
	}
	if packages == nil {
		packages = []string{folder}
	}
	for _, pkg := range packages {
		files, err := filepath.Glob(filepath.Join(root, strings.TrimSuffix(pkg, "/..."), "*"))
		if err != nil || len(files) == 0 {
			return errors.New("there is no package " + pkg)
		}
		for i := 1; i < len(words); i++ {
			kind, name := kinds[words[i-1]], strings.ReplaceAll(strings.Trim(words[i], `'"`), `\|`, "|")
			if kind != "" && name != "." && name != "^$" && !hasTest(pkg, kind, name) {
				return fmt.Errorf("%s has no %s", pkg, name)
			}
		}
	}
	return nil
}

// kinds maps each flag of go test to the prefixes of the functions that it selects.
var kinds = map[string]string{"-run": "Test|Fuzz|Example", "-bench": "Benchmark", "-fuzz": "Fuzz"}

// hasTest reports whether the regular expression in name matches a test function of pkg. kind contains the allowed
// prefixes.
func hasTest(pkg, kind, name string) bool {
	name, _, _ = strings.Cut(name, "/") // subtest names cannot be checked
	files, _ := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		for _, match := range regexp.MustCompile(`(?m)^func ((?:`+kind+`)\w*)\(`).FindAllSubmatch(text, -1) {
			if regexp.MustCompile(name).Match(match[1]) {
				return true
			}
		}
	}
	return false
}

var span = regexp.MustCompile("`((?:make|go (?:run|test|build|install)|cd) [^`\n]+)`")

func TestInlineCommandsExist(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	for _, file := range files {
		if filepath.Base(file) == "CHANGELOG.md" { // may mention commands that no longer exist
			continue
		}
		for _, match := range span.FindAllStringSubmatch(prose(t, file), -1) {
			folder, err := filepath.Rel(root, filepath.Dir(file))
			require.NoError(t, err)
			isKnown, err := exists(folder, match[1])
			require.NoError(t, err, file)
			require.True(t, isKnown, "%s: %s", file, match[1])
		}
	}
}
