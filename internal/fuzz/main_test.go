package main

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryTargetIsFound, wherever it is; those of the packages that only WebAssembly has would not be.
func TestEveryTargetIsFound(t *testing.T) {
	t.Chdir("../..")
	targets, err := find(".")
	require.NoError(t, err)
	var names []string
	for _, target := range targets {
		names = append(names, target.String())
	}
	for _, name := range []string{"lw/FuzzValue", "lw/codec/FuzzDecode", "transport/ws/FuzzFrames", "cmd/lwcat/internal/discovery/FuzzAsk"} {
		require.Contains(t, names, name)
	}
	require.Greater(t, len(names), 20)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names))
	_, err = find("nowhere")
	require.ErrorContains(t, err, "listing the packages of nowhere")
}

// TestEveryTargetIsDocumented with what it holds.
func TestEveryTargetIsDocumented(t *testing.T) {
	t.Chdir("../..")
	targets, err := find(".")
	require.NoError(t, err)
	text, err := os.ReadFile("docs/testing.md")
	require.NoError(t, err)
	for _, target := range targets {
		require.Contains(t, string(text), "| `"+target.String()+"` |")
	}
}

func TestFiguresAreRead(t *testing.T) {
	did := read([]byte("fuzz: elapsed: 3s, execs: 20 (7/sec), new interesting: 1 (total: 9)\nfuzz: elapsed: 6s, execs: 52 (10/sec), new interesting: 3 (total: 11)\nPASS\n"))
	require.Equal(t, []int{52, 3, 11}, []int{did.inputs, did.added, did.corpus})
	require.Equal(t, "52 inputs in 0s of CPU time, 3 of 11 in the corpus are new", did.String())
	require.Equal(t, outcome{told: "panic: no"}, read([]byte("panic: no")))
}

func TestTheEndOfTheTimeIsNoFailure(t *testing.T) {
	require.Regexp(t, timeIsOver, "fuzz: elapsed: 1s\n--- FAIL: FuzzYAML (1.40s)\n    context deadline exceeded\nFAIL\n")
	require.NotRegexp(t, timeIsOver, "--- FAIL: FuzzYAML (1.40s)\n    --- FAIL: FuzzYAML (0.00s)\n        x.go:1: context deadline exceeded\nFAIL\n")
}
