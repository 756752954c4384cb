package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestHelpFitsScreen checks that the help fits on a screen of 50 lines and 100 columns, and that `lwcat help all`
// contains every flag.
func TestHelpFitsScreen(t *testing.T) {
	code, short, errs := lwcat(t, "--help")
	require.Equal(t, exitDone, code, errs)
	require.LessOrEqual(t, strings.Count(short, "\n"), 50, short)
	code, all, errs := lwcat(t, "help", "all")
	require.Equal(t, exitDone, code, errs)
	for _, text := range []string{short, all} {
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), helpWidth, line)
		}
	}
	for _, section := range new(config).sections(false) {
		section.flags.VisitAll(func(flag *pflag.Flag) { require.Contains(t, all, "--"+flag.Name) })
	}
	for _, name := range commonFlags {
		require.Contains(t, short, "--"+name, "--help must show every common flag")
	}
}

func TestVersion(t *testing.T) {
	code, out, errs := lwcat(t, "version")
	require.Equal(t, exitDone, code, errs)
	require.Regexp(t, `^lwcat \S+ \(go\S+, `+runtime.GOOS+"/"+runtime.GOARCH+"\\)\n$", strings.ReplaceAll(out, runtime.Version(), "go1"))
	code, out, errs = lwcat(t, "--version")
	require.Equal(t, exitDone, code, errs)
	require.Regexp(t, `^lwcat version \S+\n$`, out)
	code, out, errs = lwcat(t, "help", "version")
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "lwcat version")
	code, out, errs = lwcat(t, "version", "pods")
	require.Equal(t, exitUsage, code)
	require.Equal(t, "lwcat: unknown command \"pods\" for \"lwcat version\"\nRun 'lwcat --help' for usage.\n", errs)
	require.Empty(t, out)
}

func TestManual(t *testing.T) {
	code, page, errs := lwcat(t, "man")
	require.Equal(t, exitDone, code, errs)
	for _, section := range new(config).sections(false) {
		section.flags.VisitAll(func(flag *pflag.Flag) {
			require.Contains(t, page, strings.ReplaceAll("--"+flag.Name, "-", `\-`)+`\fR`)
		})
	}
	for _, name := range []string{"completion", "help", "man", "version"} {
		require.Contains(t, page, "\n.B "+name)
	}
	require.Equal(t, `\&.a\-b\ec`+"\n"+`\&'d`, escapeRoff(`.a-b\c`+"\n'd"))

	lint := exec.Command(need.Program(t, "mandoc", "on Debian: apt install mandoc"), "-T", "lint", "-W", "warning")
	lint.Stdin = strings.NewReader(page)
	out, _ := lint.CombinedOutput() // mandoc exits with 2 after a warning
	for line := range strings.Lines(string(out)) {
		require.Contains(t, line, "missing date", "mandoc may report only the missing date, because only a build sets the date")
	}
}

func TestConditionsAreDocumented(t *testing.T) {
	reference, err := os.ReadFile("../../docs/lwcat.md")
	require.NoError(t, err)
	_, topic, _ := lwcat(t, "help", "until")
	_, page, _ := lwcat(t, "man")
	require.Contains(t, string(reference), condition.Grammar)
	require.Contains(t, topic, condition.Grammar)
	require.Contains(t, page, escapeRoff(condition.Grammar))
}
