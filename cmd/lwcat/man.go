package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// printMan is lwcat man: the manual page, made of the texts of the help.
func printMan(_ context.Context, args []string, stdout, _ io.Writer) error {
	if err := noArguments(args); err != nil {
		return err
	}
	_, err := io.WriteString(stdout, manual())
	return err
}

const about = `lwcat lists each collection and watches it from there, and goes on where a watch broke, whatever the
server and the network do. Events go to standard output; what happens to the connection is told on
standard error. Whoever folds the lines has the server's state at any time: after a new list, only what
has changed meanwhile is printed.
`

// manual is the page in troff, for man(1); man(7) has its macros.
func manual() string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH LWCAT 1 %q \"lwcat %s\" \"User Commands\"\n", committed(), escapeRoff(version()))
	page.WriteString(".SH NAME\nlwcat \\- print the events of Kubernetes collections\n")
	page.WriteString(".SH SYNOPSIS\n.nf\nlwcat [flags] RESOURCE|PATH...\n")
	for _, c := range commands() {
		if c.description != "" {
			page.WriteString(escapeRoff(strings.TrimSpace("lwcat "+c.name+" "+c.args)) + "\n")
		}
	}
	page.WriteString(".fi\n.SH DESCRIPTION\n" + escapeRoff(about))
	for line := range strings.Lines(strings.TrimLeft(naming, "\n")) {
		page.WriteString(".PP\n" + escapeRoff(line))
	}
	page.WriteString(".SH COMMANDS\n")
	for _, c := range commands() {
		if c.description != "" {
			fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", escapeRoff(strings.TrimSpace(c.name+" "+c.args)), escapeRoff(c.description))
		}
	}
	page.WriteString(".SH OPTIONS\n")
	for _, section := range new(config).sections(false) {
		fmt.Fprintf(&page, ".SS %s\n", section.title)
		section.flags.VisitAll(func(flag *pflag.Flag) { page.WriteString(option(flag)) })
	}
	page.WriteString(".SH EXIT STATUS\n" + escapeRoff(strings.TrimSpace(strings.TrimPrefix(exitCodes, "\nExit codes: "))) + "\n")
	page.WriteString(".SH EXAMPLES\n.nf\n" + escapeRoff(strings.TrimPrefix(examples, "\nExamples:\n")) + ".fi\n")
	return page.String()
}

// option describes a flag: -o, --output FORMAT.
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

// escapeRoff escapes a text: hyphens that are minuses, to be copied as such, and what would be a command.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return lineStart.ReplaceAllString(text, `\&$0`)
}
