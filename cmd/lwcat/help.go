package main

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const about = `lwcat lists each collection and then watches it. It resumes interrupted watches and relists if necessary.
Events go to standard output, and messages about the connection go to standard error. Applying the
printed events always yields the server's state: after a relist, lwcat prints only the changes.
`

// manual returns the manual page in troff with the macros of man(7).
func manual(root *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH LWCAT 1 %q \"lwcat %s\" \"User Commands\"\n", committed(), escapeRoff(version()))
	page.WriteString(".SH NAME\nlwcat \\- print the events of Kubernetes collections\n")
	page.WriteString(".SH SYNOPSIS\n.nf\nlwcat [flags] RESOURCE|PATH...\n")
	for _, c := range root.Commands() {
		page.WriteString(escapeRoff("lwcat "+c.Use) + "\n")
	}
	page.WriteString(".fi\n.SH DESCRIPTION\n" + escapeRoff(about))
	for line := range strings.Lines(strings.TrimLeft(naming, "\n")) {
		page.WriteString(".PP\n" + escapeRoff(line))
	}
	page.WriteString(".SH COMMANDS\n")
	for _, c := range root.Commands() {
		fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", escapeRoff(c.Use), escapeRoff(c.Short))
	}
	page.WriteString(".SH OPTIONS\n")
	for _, section := range new(config).sections(false) {
		fmt.Fprintf(&page, ".SS %s\n", section.title)
		section.flags.VisitAll(func(flag *pflag.Flag) { page.WriteString(option(flag)) })
	}
	page.WriteString(".SH CONDITIONS\n.nf\n" + escapeRoff(condition.Grammar) + ".fi\n")
	page.WriteString(".SH EXIT STATUS\n" + escapeRoff(strings.TrimSpace(strings.TrimPrefix(exitCodes, "\nExit codes: "))) + "\n")
	page.WriteString(".SH EXAMPLES\n.nf\n" + escapeRoff(strings.TrimPrefix(examples, "\nExamples:\n")) + ".fi\n")
	return page.String()
}

// option formats a flag, for example "-o, --output FORMAT", with its description.
func option(flag *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(flag)
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand + ", " + name
	}
	text := fmt.Sprintf(".TP\n\\fB%s\\fR", escapeRoff(name))
	if kind != "" && flag.NoOptDefVal == "" {
		text += " \\fI" + escapeRoff(kind) + "\\fR"
	}
	if preset := flag.DefValue; preset != "" && preset != "false" && preset != "0" && preset != "[]" && preset != "0s" {
		usage += " (default: " + preset + ")"
	}
	return text + "\n" + escapeRoff(usage) + "\n"
}

var lineStart = regexp.MustCompile(`(?m)^[.']`)

// escapeRoff escapes backslashes, hyphens and lines that troff would read as requests.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return lineStart.ReplaceAllString(text, `\&$0`)
}

// version returns the module version from the build information, for example "v1.2.3",
// "v0.0.0-20261121120855-a313d0efb1ae" or "(devel)".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return cmp.Or(info.Main.Version, "(unknown)")
}

// committed returns the date of the built commit, for example "2026-11-21", or "" if it is unknown.
func committed() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.time" {
			day, _, _ := strings.Cut(setting.Value, "T")
			return day
		}
	}
	return ""
}
