package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const intro = `lwcat prints the events of Kubernetes collections, and goes on until it is told to stop.

Usage:
  lwcat [flags] RESOURCE|PATH...
`

// naming says what the arguments are.
const naming = `
RESOURCE is named as kubectl names it: pods, po, deploy.apps, deployments.v1.apps, pod/web-0.
PATH is a collection's path on the server, as /apis/apps/v1/deployments.
`

const examples = `
Examples:
  lwcat -A pods                                what happens to Pods, in all namespaces
  lwcat pods,svc deploy/web -n shop,shop-test -o diff
  lwcat pod/web-0 --until condition=Ready --timeout 2m && echo up
  lwcat --once nodes -o jsonl | jq -r .object.metadata.name
`

const exitCodes = `
Exit codes: 0 done; 1 the server, the network or the output said no, or an event could not be
printed; 2 wrong usage; 3 what was waited for did not come; 130 interrupted.
`

// commonFlags are the flags that --help shows; help all and the man page show all of them.
var commonFlags = []string{
	"context", "server",
	"namespace", "all-namespaces", "selector", "field-selector",
	"output",
	"once", "watch-only", "count", "timeout", "until",
}

// helpWidth is the columns of a narrow terminal.
const helpWidth = 100

// help is lwcat help [all].
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

// helpText is the help: what fits a screen, or all flags.
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
		text.WriteString("\nThere are more flags: lwcat help all\n")
	}
	return text.String() + examples + exitCodes
}

// pick returns those flags of a set that are named, with the first part of their texts.
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
