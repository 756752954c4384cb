//go:build unix

package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// vulncheck runs a make target with a shell script instead of govulncheck, and returns the printed lines. With GO=true,
// make runs the command true instead of go, so that no go command does anything.
func vulncheck(t *testing.T, script string, args ...string) (lines []string, err error) {
	need.Program(t, "make", "on Debian: apt install make")
	makefile, err := filepath.Abs(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bin", "govulncheck"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"-f", makefile, "GO=true"}, args...)...)
	cmd.Dir = folder
	// The variables of an outer make would override the flags of this one.
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=", "VULNDB=")
	out, err := cmd.CombinedOutput()
	return strings.Split(strings.TrimSpace(string(out)), "\n"), err
}

// unreachable prints the message that govulncheck 1.2.0 prints if it cannot reach its database.
const unreachable = `echo 'govulncheck: fetching vulnerabilities: Get "https://vuln.go.dev/index/modules.json.gz": dial tcp: i/o timeout' >&2; exit 1`

func TestVulncheckEndsWithANoticeIfItsDatabaseIsUnreachable(t *testing.T) {
	lines, err := vulncheck(t, unreachable, "vulncheck")
	require.NoError(t, err, lines)
	require.Contains(t, lines[len(lines)-1], "NOT CHECKED for known vulnerabilities")
	require.Contains(t, strings.Join(lines, "\n"), "i/o timeout", "the cause must be printed too")
}

func TestVulncheckFailsWithoutItsDatabaseIfRequired(t *testing.T) {
	lines, err := vulncheck(t, unreachable, "vulncheck", "VULNDB=required")
	require.Error(t, err, lines)
	require.Contains(t, strings.Join(lines, "\n"), "i/o timeout")
}

func TestVulncheckFailsForVulnerabilities(t *testing.T) {
	lines, err := vulncheck(t, "echo 'fetching vulnerabilities'; echo 'Vulnerability #1: GO-2026-0001'; exit 3", "vulncheck")
	require.Error(t, err, lines)
	require.Contains(t, strings.Join(lines, "\n"), "GO-2026-0001")
	lines, err = vulncheck(t, "echo 'No vulnerabilities found.'", "vulncheck")
	require.NoError(t, err, lines)
	require.Equal(t, "No vulnerabilities found.", lines[len(lines)-1])
}

// vulncheck must be the last check of its stage. Otherwise, its notice would be lost in the middle of the output.
func TestVulncheckIsTheLastCheckOfLint(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	_, lint, found := strings.Cut(string(text), "\nlint:")
	require.True(t, found)
	lint, _, _ = strings.Cut(lint, "\n\n")
	require.Regexp(t, `\n\t@\$\(MAKE\) --no-print-directory vulncheck$`, lint)
}
