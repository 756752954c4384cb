package clients

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/docs"
)

// programs lists the files in examples/clientgo that docs/migration.md explains. %s stands for listwatch or clientgo.
var programs = []string{
	"controller/%s/controller.go",
	"unittest/%s/controller_test.go",
}

const folder = "../../examples/clientgo/"

// linesOf returns the number of code lines in a file, without blank lines and comments.
func linesOf(t *testing.T, file string) (n int) {
	text, err := os.ReadFile(folder + file)
	require.NoError(t, err)
	formatted, err := format.Source(text)
	require.NoError(t, err)
	require.True(t, bytes.Equal(formatted, text), "%s is not formatted by gofmt", file)
	require.NotContains(t, string(text), "/*")
	for line := range strings.Lines(string(text)) {
		require.LessOrEqual(t, len(strings.ReplaceAll(line, "\t", "    ")), 121, "a line exceeds 120 columns, which makes the line count misleading: %s", file)
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// TestProgramLines checks the line counts in docs/migration.md.
func TestProgramLines(t *testing.T) {
	guide, err := os.ReadFile("../../docs/migration.md")
	require.NoError(t, err)
	for _, program := range programs {
		row := "| " + path.Dir(path.Dir(program)) + " |"
		for _, library := range []string{"listwatch", "clientgo"} {
			file := fmt.Sprintf(program, library)
			row += fmt.Sprintf(" [%d lines](../%s) |", linesOf(t, file), "examples/clientgo/"+file)
		}
		require.Contains(t, string(guide), row)
	}
}

// unindented trims white space from text and from each of its lines.
func unindented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// TestProgramExcerpts checks that the code in docs/migration.md occurs in the programs.
func TestProgramExcerpts(t *testing.T) {
	guide, err := os.ReadFile("../../docs/migration.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(guide), "\n## The programs\n")
	require.True(t, found)
	section, _, found = strings.Cut(section, "\n## ")
	require.True(t, found)
	code := ""
	for _, program := range programs {
		text, err := os.ReadFile(folder + fmt.Sprintf(program, "listwatch"))
		require.NoError(t, err)
		code += unindented(string(text)) + "\n"
	}
	blocks, err := docs.Parse("docs/migration.md", section)
	require.NoError(t, err)
	blocks = slices.DeleteFunc(blocks, func(b docs.Block) bool { return b.Language != "go" })
	require.GreaterOrEqual(t, len(blocks), len(programs)-1, "the guide must quote every program but the unit test, to which it only links")
	for _, block := range blocks {
		for part := range strings.SplitSeq(block.Text, "…\n") {
			require.True(t, strings.Contains(code, unindented(part)), "no program contains this code:\n%s", part)
		}
	}
}
