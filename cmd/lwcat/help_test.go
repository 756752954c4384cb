package main

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestHelpFitsScreen checks that the help fits on a screen of 40 lines and 100 columns, and that `lwcat help all`
// contains every flag.
func TestHelpFitsScreen(t *testing.T) {
	code, short, errs := lwcat(t, "--help")
	require.Equal(t, exitDone, code, errs)
	require.LessOrEqual(t, strings.Count(short, "\n"), 40, short)
	code, all, errs := lwcat(t, "help", "all")
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, all, "--max-events", "another name of --count, which scripts use")
	for _, text := range []string{short, all} {
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), helpWidth, line)
		}
	}
	flags := new(config).flags(false)
	flags.VisitAll(func(flag *pflag.Flag) { require.Contains(t, all, "--"+flag.Name) })
	for _, name := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(short, -1) {
		require.NotNil(t, flags.Lookup(name[1]), "--help shows a flag that does not exist: %s", name[0])
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

func TestConditionsAreDocumented(t *testing.T) {
	reference, err := os.ReadFile("../../docs/lwcat.md")
	require.NoError(t, err)
	_, topic, _ := lwcat(t, "help", "until")
	require.Contains(t, string(reference), condition.Grammar)
	require.Contains(t, topic, condition.Grammar)
}
