package docs

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const root = "../../.."

func read(t *testing.T) []Block {
	t.Helper()
	blocks, err := Read(root)
	require.NoError(t, err)
	require.NotEmpty(t, blocks)
	return blocks
}

// languages are those that a test holds, with where. An output that no command stands above is text.
var languages = map[string]string{
	"go":      "TestGo, and the tests of the modules that a fence names",
	"console": "TestCommands",
	"sh":      "TestCommands",
	"ts":      "wasm/test/package.test.mjs",
	"tsx":     "wasm/test/package.test.mjs",
	"js":      "wasm/test/package.test.mjs",
	"json":    "TestData",
	"yaml":    "TestData",
	"mermaid": "lw/TestStateDiagram and internal/testkit/rules.TestDiagramShowsTheImports",
	"text":    "nothing: it is for reading",
}

// modules are those that compile the blocks that name them.
var modules = map[string]string{"": "internal/testkit/docs", "e2e/clients": "e2e/clients", "examples/metrics": "examples/metrics", "adapters": "adapters"}

func TestEveryBlockIsHeldByATest(t *testing.T) {
	for _, b := range read(t) {
		require.NoError(t, held(b))
	}
}

func held(b Block) error {
	switch {
	case languages[b.Language] == "":
		return wrong(b, "no test knows the language "+b.Language+"; an output is text")
	case b.Language == "go" && modules[b.Info] == "":
		return wrong(b, "no test compiles blocks of the module "+b.Info)
	case b.Language == "console" && b.Info != "" && b.Info != "like", b.Language != "go" && b.Language != "console" && b.Info != "":
		return wrong(b, "nobody knows what "+b.Info+" means")
	}
	return nil
}

// TestGo compiles the blocks of Go that belong to the main module.
func TestGo(t *testing.T) {
	require.NoError(t, CompileAll(root, Module{Names: Names(), Given: Given()}))
}

// TestData parses what is data.
func TestData(t *testing.T) {
	for _, b := range read(t) {
		require.NoError(t, parses(b))
	}
}

func parses(b Block) error {
	var value any
	switch b.Language {
	case "json":
		if err := json.Unmarshal([]byte(b.Text), &value); err != nil {
			return wrong(b, err.Error())
		}
	case "yaml":
		if err := yaml.Unmarshal([]byte(b.Text), &value); err != nil {
			return wrong(b, err.Error())
		}
	}
	return nil
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksLeadSomewhere: a link to a file of ours, and to one of its headings, has something to show.
func TestLinksLeadSomewhere(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	for _, file := range files {
		for _, match := range link.FindAllStringSubmatch(prose(t, file), -1) {
			to, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := file
			if to != "" {
				target = path.Join(path.Dir(filepath.ToSlash(file)), to)
			}
			require.FileExists(t, orReadable(target), "%s links to %s", file, match[1])
			if heading != "" {
				require.Contains(t, headings(t, target), heading, "%s links to %s", file, match[1])
			}
		}
	}
}

// orReadable lets a link lead to a folder.
func orReadable(target string) string {
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		entries, _ := filepath.Glob(filepath.Join(target, "*.*"))
		if len(entries) > 0 {
			return entries[0]
		}
	}
	return target
}

var notInAnchors = regexp.MustCompile(`[^\pL\pN _-]`)

// headings are the anchors that a page has for its headings.
func headings(t *testing.T, file string) (anchors []string) {
	for line := range strings.Lines(prose(t, file)) {
		if title := strings.TrimLeft(line, "#"); title != line {
			anchor := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	return anchors
}

// prose is a Markdown file without its blocks of code.
func prose(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var b strings.Builder
	within := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			within = !within
		} else if !within {
			b.WriteString(line)
		}
	}
	return b.String()
}

func wrong(b Block, what string) error { return errors.New(b.String() + ": " + what) }
