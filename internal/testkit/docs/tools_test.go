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

// known are the programs that are not run here, as they take long or are somebody else's. Of the former is seen to it that
// what they name is there.
var known = map[string]func(folder string, words []string) error{
	"make":    makes,
	"go":      goes,
	"kubectl": nil,
	"npm":     nil,
	"git":     nil,
	"sudo":    nil,
}

// exists looks at a command that is not run, and tells whether it is one. It is typed in the repository's root or, where a
// document lies in a module of its own, in its folder.
func exists(folder, text string) (isKnown bool, err error) {
	if _, err := os.Stat(filepath.Join(root, folder, "go.mod")); err != nil {
		folder = "."
	}
	text, _, _ = strings.Cut(text, " #")
	for part := range strings.SplitSeq(text, "&&") {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") { // a variable for the command
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

// makes finds targets and variables in the Makefile, or in a test that asks the environment.
func makes(folder string, words []string) error {
	text, err := os.ReadFile(filepath.Join(root, folder, "Makefile"))
	if err != nil {
		return err
	}
	for _, word := range words {
		name, _, variable := strings.Cut(word, "=")
		if variable && !regexp.MustCompile(`\b`+name+`\b`).Match(text) {
			return errors.New("the Makefile does not know the variable " + name)
		}
		if !variable && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`( [a-z0-9-]+)*:`).Match(text) {
			return errors.New("there is no target " + name)
		}
	}
	return nil
}

// goes finds packages, and the tests of "go test".
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
	for _, room := range packages {
		files, err := filepath.Glob(filepath.Join(root, strings.TrimSuffix(room, "/..."), "*"))
		if err != nil || len(files) == 0 {
			return errors.New("there is no package " + room)
		}
		for i := 1; i < len(words); i++ {
			kind, name := kinds[words[i-1]], strings.ReplaceAll(strings.Trim(words[i], `'"`), `\|`, "|")
			if kind != "" && name != "." && name != "^$" && !hasTest(room, kind, name) {
				return fmt.Errorf("%s has no %s", room, name)
			}
		}
	}
	return nil
}

// kinds are those of the tests that a flag chooses.
var kinds = map[string]string{"-run": "Test|Fuzz|Example", "-bench": "Benchmark", "-fuzz": "Fuzz"}

// hasTest finds a test of a package by a part of its name, a regular expression.
func hasTest(room, kind, name string) bool {
	name, _, _ = strings.Cut(name, "/") // a test within one is made when it runs
	files, _ := filepath.Glob(filepath.Join(root, room, "*_test.go"))
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

// TestCommandsWithinTheText: what is named in a sentence or a table exists, too.
func TestCommandsWithinTheText(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	for _, file := range files {
		if filepath.Base(file) == "CHANGELOG.md" { // it tells of what was
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
