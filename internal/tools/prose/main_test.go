package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommentsStayOnTheirLines(t *testing.T) {
	lines, err := comments("x.go", `// Package x counts.
package x // not a doc

//go:noinline
func f() error { // It fails.
	/* Two
	   lines. */
	_ = "a string is not a comment"
	return errors.New("the server sent nothing") // ever
}
`)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Package x counts.", "not a doc.", "", "", "It fails.", "Two", "lines.", "", "ever.", "", "",
	}, lines)
}

func TestRejectsInvalidGo(t *testing.T) {
	_, err := comments("x.go", "package")
	require.ErrorContains(t, err, "x.go:1:8")
}

func TestEveryPatternMatchesAFile(t *testing.T) {
	t.Chdir("../../..")
	files, err := enforced("internal/tools/prose/enforced.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
}
