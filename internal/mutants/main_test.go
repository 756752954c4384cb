package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// enough is more processor time than any test of testdata takes, and a wait that nothing comes near.
var enough = limits{cpu: 2 * time.Second, wall: time.Hour}

func measured(t *testing.T, name, files string, least limits) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := measure(t.Context(), name, options{regexp.MustCompile(files), 2, least}, &out, io.Discard)
	return out.String(), err
}

// TestWhatComesOfMutants of each kind: most are noticed, one runs in circles, one lives, and one is not covered.
func TestWhatComesOfMutants(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	before := namesIn(t, "testdata/sample")
	out, err := measured(t, "./testdata/sample", "", enough)
	require.NoError(t, err)
	require.Equal(t, strings.TrimPrefix(`
| | mutants | killed | timed out | lived | not covered |
| --- | --- | --- | --- | --- | --- |
| a comparison is negated | 4 | 4 | 0 | 0 | 0 |
| a comparison's boundary moves: "<" and "<=", ">" and ">=" | 1 | 0 | 0 | 1 | 0 |
| "+" and "-", "*" and "/"; a sign; "++" and "--" | 8 | 7 | 0 | 0 | 1 |
| "&&" and "\|\|" | 2 | 2 | 0 | 0 | 0 |
| a call, an assignment or a defer is left out | 5 | 4 | 1 | 0 | 0 |
| "true" and "false" | 1 | 1 | 0 | 0 | 0 |
| "&" and "\|", "<<" and ">>", … | 5 | 5 | 0 | 0 | 0 |
| all | 26 | 23 | 1 | 1 | 1 |

Not tried: 6 within constants that must stay constants, of all files.

lived:
testdata/sample/sample.go:21:51: > → >=   func Compared(a, b int) bool { return a == b || a > limit }

not covered:
testdata/sample/sample.go:60:35: - → +   func untested(n int) int { return -n }
`, "\n"), strings.ReplaceAll(strings.TrimPrefix(out, "\n"), "`", `"`))
	require.Equal(t, before, namesIn(t, "testdata/sample"))
	require.Empty(t, namesIn(t, temp), "nothing is left, of those that were killed either")
}

func namesIn(t *testing.T, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestWhatWaitsForEverTimesOut(t *testing.T) {
	out, err := measured(t, "./testdata/waiting", "", limits{cpu: time.Hour, wall: time.Millisecond})
	require.NoError(t, err)
	require.Contains(t, out, "| `true` and `false` | 1 | 0 | 1 | 0 | 0 |")
}

func TestErrorsAreTold(t *testing.T) {
	_, err := measured(t, "./testdata/failing", "", enough)
	require.ErrorContains(t, err, "TestSum fails without any mutant, so that nothing can be told of mutants:")
	require.ErrorContains(t, err, "it is not 3")
	_, err = measured(t, "./testdata/nowhere", "", enough)
	require.ErrorContains(t, err, "asking for the package ./testdata/nowhere")
	_, err = measured(t, "./testdata/sample", "no_such_file", enough)
	require.EqualError(t, err, `there is nothing to mutate in the files "no_such_file" of ./testdata/sample`)
}

// TestItStopsWhenItIsInterrupted, and says so.
func TestItStopsWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	told := writer(func(text string) {
		if strings.Contains(text, "tests without a mutant") {
			cancel(errors.New("interrupted"))
		}
	})
	o := options{regexp.MustCompile(""), 1, limits{time.Hour, time.Hour}}
	err := measure(ctx, "./testdata/waiting", o, io.Discard, told)
	require.EqualError(t, err, "interrupted")
}

type writer func(string)

func (w writer) Write(text []byte) (int, error) {
	w(string(text))
	return len(text), nil
}
