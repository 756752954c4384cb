package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const intro = `lwcat prints the events of Kubernetes collections until you stop it.

Usage:
  lwcat [flags] RESOURCE|PATH...
`

// naming explains the arguments.
const naming = `
RESOURCE is a name as in kubectl: pods, po, deploy.apps, deployments.v1.apps, pod/web-0.
PATH is the path of a collection on the server, for example /apis/apps/v1/deployments.
`

const examples = `
Examples:
  lwcat -A pods                                follow the Pods in all namespaces
  lwcat pods,svc deploy/web -n shop,shop-test -o diff
  lwcat pod/web-0 --until condition=Ready --timeout 2m && echo up
  lwcat --once nodes -o jsonl | jq -r .object.metadata.name
`

const exitCodes = `
Exit codes: 0 success; 1 failure; 2 wrong usage; 3 the condition or event of --until, --count or
--once did not occur; 130 interrupted.
`

// commonFlags are the flags that --help shows. The commands help all and man show all flags.
var commonFlags = []string{
	"context", "server",
	"namespace", "all-namespaces", "selector", "field-selector",
	"output",
	"once", "watch-only", "count", "timeout", "until",
}

// helpWidth is the line width of the help in columns.
const helpWidth = 100

// help implements lwcat help [all].
func help(_ context.Context, args []string, stdout, _ io.Writer) error {
	all := len(args) > 0 && args[0] == "all"
	if all {
		args = args[1:]
	}
	if err := noArguments(args); err != nil {
		return err
	}
	_, err := io.WriteString(stdout, helpText(all))
	return err
}

// helpText returns the help with the common flags or with all flags.
func helpText(all bool) string {
	var text strings.Builder
	text.WriteString(intro)
	for _, c := range commands() {
		if c.description != "" {
			fmt.Fprintf(&text, "  %-38s %s\n", strings.TrimSpace("lwcat "+c.name+" "+c.args), c.description)
		}
	}
	text.WriteString(naming)
	for _, section := range new(config).sections(false) {
		if !all {
			section.flags = pick(section.flags, commonFlags)
		}
		if section.flags.HasFlags() {
			fmt.Fprintf(&text, "\n%s:\n%s", section.title, section.flags.FlagUsagesWrapped(helpWidth))
		}
	}
	if !all {
		text.WriteString("\nRun 'lwcat help all' for all flags.\n")
	}
	return text.String() + examples + exitCodes
}

// pick returns copies of the named flags with the first part of their usage.
func pick(set *pflag.FlagSet, names []string) *pflag.FlagSet {
	picked := pflag.NewFlagSet("", pflag.ContinueOnError)
	picked.SortFlags = false
	set.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(names, flag.Name) {
			short := *flag
			short.Usage, _, _ = strings.Cut(short.Usage, "; ")
			short.Usage, _, _ = strings.Cut(short.Usage, ". ")
			picked.AddFlag(&short)
		}
	})
	return picked
}
