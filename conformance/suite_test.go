package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
)

// isDriver is an environment variable. If it is set, the test program acts as a driver and runs the reference client,
// so that tests need no separate program.
const isDriver = "LISTWATCH_CONFORMANCE_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(isDriver) == "" {
		leak.Main(m)
		return
	}
	d := &reference{http: http.DefaultClient, url: os.Args[1]}
	_ = d.run(context.Background(), os.Args[1], os.Stdout)
}

func TestJudgesCommand(t *testing.T) {
	t.Parallel()
	s := &settings{hostileFor: time.Second, logs: t.TempDir()}
	trials := all(1)
	i := slices.IndexFunc(trials, func(t *trial) bool { return t.Name == "listing" })
	for name, c := range map[string]*client{
		"":     {Name: "good", Run: []string{os.Args[0]}, Env: []string{isDriver + "=1"}},
		"exit": {Name: "bad", Run: []string{os.Args[0], "-test.run=^$"}},
	} {
		r, err := s.try(t.Context(), trials[i], c)
		require.NoError(t, err)
		require.Equal(t, name, r.judge().failed, "%v", r.violations())
		require.FileExists(t, filepath.Join(s.logs, c.Name+", listing.log"))
	}
}

func TestTrialsHaveUniqueNames(t *testing.T) {
	names := map[string]bool{}
	for _, one := range all(1) {
		require.False(t, names[one.Name], one.Name)
		names[one.Name] = true
	}
	require.Greater(t, len(names), 80)
	for name := range deadlines {
		require.Contains(t, names, name)
	}
	for name := range excused {
		require.Contains(t, names, name)
	}
}

// A note that matches no trial would hide that a client has improved.
func TestNotesMatchTrials(t *testing.T) {
	clients, err := (&settings{clients: "clients.json"}).read(nil)
	require.NoError(t, err)
	var known []string
	for _, p := range properties {
		known = append(known, p.Name)
	}
	for _, c := range clients {
		for _, n := range c.Notes {
			require.NotEmpty(t, n.Says)
			for part := range strings.SplitSeq(n.Trials, "|") {
				require.True(t, slices.ContainsFunc(all(1), func(one *trial) bool {
					return regexp.MustCompile("^(" + part + ")$").MatchString(one.Name)
				}), "%s: %s", c.Name, part)
			}
			for part := range strings.SplitSeq(n.Property, "|") {
				require.Contains(t, known, part)
			}
		}
	}
}

func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"+beginMark+"old"+endMark+"\nafter\n"), 0o600))
	clients := []*client{
		{Name: "ours", Ours: true, Notes: []note{{Trials: "stream.*", Property: "lost|exit", Says: "Because."}}},
		{Name: "other"},
	}
	trials := all(1)[:2]
	found := results{
		"ours":  {"streaming": {ran: true, failed: "lost"}, "listing": {ran: true, failed: "exit"}},
		"other": {"streaming": {ran: true, failed: "lost"}},
	}
	require.NoError(t, (&settings{seed: 7, command: "run"}).write(file, clients, trials, found))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, part := range []string{
		"before\n" + beginMark, endMark + "\nafter\n", "seed 7 and the command `run`.", "| ours | this version | 0 | 2 | 0 |", "| other | this version | 0 | 1 | 1 |",
		"with streaming lists | lost (1) | not checked |", "with paginated lists | exit | skipped |", "\n1. Because.\n",
	} {
		require.Contains(t, string(text), part)
	}
	require.NotContains(t, string(text), "old")
}
