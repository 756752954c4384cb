package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGoProseKeepsCommentsAndMessagesOnTheirLines(t *testing.T) {
	lines, err := goProse("x.go", `// Package x counts.
package x // not a doc

//go:noinline
func f() error { // It fails.
	/* Two
	   lines. */
	_ = "{\"json\": \"is not a message\"}"
	return errors.New("the server sent nothing") // ever
}
`)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Package x counts.", "not a doc.", "", "", "It fails.", "Two", "lines.", "", "ever. the server sent nothing.", "", "",
	}, lines)
}

func TestGoProseRejectsInvalidGo(t *testing.T) {
	_, err := goProse("x.go", "package")
	require.ErrorContains(t, err, "x.go:1:8")
}

func TestJSProseKeepsCommentsOnTheirLines(t *testing.T) {
	require.Equal(t, []string{"", "Closes", "the page.", "", "", "Stops.", "One", "two.", "", ""}, jsProse(`/**
 * Closes
 * the page.
 */
const url = 'https://example.com'
close() // Stops.
// One
// two
run() // eslint-disable-line no-alert -- a reason
`))
}

func TestEveryPatternMatchesAFile(t *testing.T) {
	t.Chdir("../../..")
	files, err := enforced("internal/tools/prose/enforced.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
}
