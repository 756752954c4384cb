package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// kubectlVerbs are the verbs of kubectl that fromKubectl accepts.
var kubectlVerbs = []string{"get", "list", "describe", "watch"}

// fromKubectl converts arguments in kubectl's form, for example "get pods web-0" to "pods/web-0". It also returns a
// hint with the short form. As in kubectl, get lists once unless -w is set.
func (c *config) fromKubectl(flags *pflag.FlagSet, args []string) (names []string, hint string) {
	if len(args) == 0 || !slices.Contains(kubectlVerbs, args[0]) {
		return args, ""
	}
	verb, names := args[0], slices.Clone(args[1:])
	if len(names) > 1 && !strings.Contains(names[0], "/") {
		for i, name := range names[1:] {
			names[i+1] = names[0] + "/" + name
		}
		names = names[1:]
	}
	short := append([]string{"lwcat"}, names...)
	if verb != "watch" && !c.limits.watch && !c.limits.hasGoal() {
		c.limits.once = true
		short = append(short, "--once")
	}
	if verb == "describe" && !flags.Changed("output") {
		c.output.name = "yaml"
		short = append(short, "-o yaml")
	}
	hint = fmt.Sprintf("hint: lwcat needs no %q: write %q", verb, strings.Join(short, " "))
	if c.output.name == "yaml" && flags.Changed("output") {
		hint += "; lwcat prints each object as a separate document instead of a List"
	}
	return names, hint
}
