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

// languages maps each language that a block may have to the test that checks blocks in this language. Blocks that
// contain output without a command use "text".
var languages = map[string]string{
	"go":      "TestGoBlocksCompile and the tests of other modules",
	"console": "TestCommandsPrintTheShownOutput",
	"sh":      "TestCommandsPrintTheShownOutput",
	"ini":     "TestCommandsPrintTheShownOutput, which runs the ExecStart command of a systemd unit without systemd",
	"ts":      "wasm/test/package.test.mjs",
	"tsx":     "wasm/test/package.test.mjs",
	"js":      "wasm/test/package.test.mjs",
	"html":    "e2e/browser/bundlers.test.mjs",
	"nginx":   "e2e/TestNginxRecipe, and e2e/browser/bundlers.test.mjs for the Content Security Policy",
	"json":    "TestDataBlocksParse",
	"yaml":    "TestDataBlocksParse",
	"mermaid": "lw/TestStateDiagram",
	"text":    "not tested",
}

// modules maps the module that a Go block names to the package whose test compiles it.
var modules = map[string]string{"": "internal/testkit/docs", "e2e/clients": "e2e/clients", "examples/metrics": "examples/metrics", "adapters": "adapters"}

func TestEveryBlockHasATest(t *testing.T) {
	for _, b := range read(t) {
		require.NoError(t, checkFence(b))
	}
}

func checkFence(b Block) error {
	switch {
	case languages[b.Language] == "":
		return wrong(b, "unknown language "+b.Language+"; mark output as a \"text\" block")
	case b.Language == "go" && modules[b.Info] == "":
		return wrong(b, "no test compiles Go blocks for the module "+b.Info)
	case b.Language == "console" && b.Info != "" && b.Info != "like", b.Language != "go" && b.Language != "console" && b.Info != "":
		return wrong(b, "unknown block info "+b.Info)
	}
	return nil
}

func TestGoBlocksCompile(t *testing.T) {
	require.NoError(t, CompileAll(root, Module{Names: Names(), Given: Given()}))
}

func TestDataBlocksParse(t *testing.T) {
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

func TestLinksHaveTargets(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	for _, file := range files { // skips code spans, because Go code such as codec.JSON[*Pod](nil) looks like a link
		for _, match := range link.FindAllStringSubmatch(Span.ReplaceAllString(prose(t, file), ""), -1) {
			to, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := file
			if to != "" {
				target = path.Join(path.Dir(filepath.ToSlash(file)), to)
			}
			require.FileExists(t, orReadable(target), "%s has a broken link to %s", file, match[1])
			if heading != "" {
				require.Contains(t, headings(t, target), heading, "%s has a broken link to %s", file, match[1])
			}
		}
	}
}

// orReadable returns a path that the caller can read as a file: target itself, or one of its files if target is a
// folder.
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

// headings returns the anchors of all headings in a Markdown file.
func headings(t *testing.T, file string) (anchors []string) {
	for line := range strings.Lines(prose(t, file)) {
		if title := strings.TrimLeft(line, "#"); title != line {
			anchor := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	return anchors
}

// prose returns the text of a Markdown file without its code blocks.
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
