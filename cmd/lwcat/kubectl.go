package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// kubectlVerbs are the kubectl verbs that fromKubectl accepts.
var kubectlVerbs = []string{"get", "list", "watch", "wait", "rollout"}

// otherVerbs are kubectl commands that lwcat does not have. The error message for such a command names the right
// command, instead of saying that no such resource exists.
var otherVerbs = strings.Fields("annotate apply attach auth autoscale certificate cluster-info config cordon cp create debug delete diff drain edit exec explain expose label logs patch port-forward proxy replace run scale set taint top uncordon")

// useKubectl returns the error for a command line that only kubectl understands. It names the whole command line,
// because without its flags, the command could change another object.
func (c *config) useKubectl() error {
	return fmt.Errorf("follows objects only: use kubectl %s", c.commandLine())
}

// commandLine returns the command line without the token, because messages may end up in the log of a job.
func (c *config) commandLine() string {
	args := slices.Clone(c.args)
	for i, arg := range args {
		if i > 0 && c.args[i-1] == "--token" {
			args[i] = "…" // may contain spaces, for example "Bearer …"
		} else if strings.HasPrefix(arg, "--token=") {
			args[i] = "--token …"
		}
	}
	return strings.Join(args, " ")
}

// fromKubectl converts arguments in kubectl's form, for example "get pods web-0" to "pods/web-0". As in kubectl, "get"
// lists once unless -w is set, and "wait" and "rollout status" print only the result.
func (c *config) fromKubectl(flags *pflag.FlagSet, args []string) (names []string, err error) {
	// --watch=false is the same as --once.
	if c.limits.once = c.limits.once || flags.Changed("watch") && !c.limits.watch; len(args) == 0 {
		return args, nil
	}
	verb, names := args[0], slices.Clone(args[1:])
	c.output.kubectl = slices.Contains([]string{"get", "list", "watch"}, verb)
	switch {
	case verb == "describe":
		return nil, fmt.Errorf("%w, or lwcat %s -o yaml", c.useKubectl(), strings.Replace(c.commandLine(), verb, "get", 1))
	case slices.Contains(otherVerbs, verb) || verb == "rollout" && (len(names) == 0 || names[0] != "status"):
		return nil, c.useKubectl()
	case verb == "record" || verb == "replay":
		return nil, errors.New("to record events, use lwcat pods --record FILE; to print them again, use lwcat --replay FILE")
	case !slices.Contains(kubectlVerbs, verb):
		return args, nil
	case verb == "rollout":
		names = names[1:]
		c.limits.verb, c.limits.until = verb, []string{"rollout"}
	case verb == "wait":
		if err := c.waitFor(flags); err != nil {
			return nil, err
		}
	case verb != "watch" && !c.limits.watch && !c.limits.watchOnly && len(c.limits.until) == 0:
		c.limits.once = true
	}
	if len(names) > 1 && !strings.Contains(names[0], "/") {
		var objects []string
		for _, kind := range split(names[:1]) {
			for _, name := range names[1:] {
				objects = append(objects, kind+"/"+name)
			}
		}
		names = objects
	}
	return names, nil
}

// waitFor converts the flags of kubectl wait to --until and --timeout, with kubectl's defaults.
func (c *config) waitFor(flags *pflag.FlagSet) error {
	goal := c.resources.about // the flag --for, which otherwise selects Events about an object
	if goal == "" {
		return errors.New("wait needs --for, for example --for=condition=Ready, --for=delete or --for=jsonpath='{.status.phase}'=Running")
	}
	if goal != "delete" && goal != "create" { // these two already apply to all objects
		goal = "all " + goal
	}
	c.limits.verb, c.limits.until, c.resources.about = "wait", []string{goal}, ""
	switch {
	case !flags.Changed("timeout"):
		c.limits.timeout = 30 * time.Second
	case c.limits.timeout == 0: // kubectl then checks once
		c.limits.once = true
	}
	return nil
}

// aliases contains flag names that users may guess, for example from kubectl, each followed by the name that lwcat uses.
var aliases = pairs{"max-events", "count", "resource-version", "from", "v", "verbose", "events", "event", "ignore-not-found", "wait", "request-timeout", "timeout"}

// advice contains flags that lwcat does not have, most of them from kubectl, each followed by advice for the error
// message.
var advice = pairs{
	"q", "use >/dev/null to hide the events, or 2>/dev/null to hide the messages",
	"type", "use --event ADDED, MODIFIED or DELETED for kinds of changes, or --types=Warning for Events",
	"deletes-only", "use --event DELETED",
	"only-deleted", "use --event DELETED",
	"raw", "use kubectl get --raw",
	"f", "lwcat only follows objects: use kubectl for manifests and logs",
	"grep", "use --where, for example --where metadata.labels.app=web, or pipe the output to grep",
	"filter", "use --where, for example --where 'status.phase==Pending'",
	"since", "use --from RESOURCEVERSION or --resume FILE",
}

// pairs contains keys, each followed by its value. Unlike a map, it is filled by the linker, which makes lwcat smaller.
type pairs []string

// get returns the value of a key, or "".
func (p pairs) get(key string) string {
	for i := 0; i < len(p); i += 2 {
		if p[i] == key {
			return p[i+1]
		}
	}
	return ""
}

// explainFlag improves the parser's error. For an unknown flag, it adds advice or a similar flag. For an invalid value,
// it names the expected value.
func explainFlag(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		expected := pairs{
			"bool", "true or false", "int", "a number", "count", "a number", "duration", "a time with a unit, such as 30s or 5m", "stringSlice", "values separated by commas, without quotes",
		}.get(invalid.GetFlag().Value.Type())
		return fmt.Errorf("--%s is %q: expected %s", invalid.GetFlag().Name, invalid.GetValue(), expected)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	if text := advice.get(name); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := nearest.Likely(name, names); len(near) > 0 && len(name) > 2 { // short names are similar to most flags
		return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
	}
	return err
}

// printTypes prints the resources that can be watched, like kubectl api-resources.
func (s *connection) printTypes(ctx context.Context, out io.Writer) error {
	all, err := discovery.Ask(ctx, s.transport)
	if err != nil {
		return err
	}
	const format = "%-40s %-12s %-32s %-10v %s\n"
	table := bufio.NewWriter(out)
	fmt.Fprintf(table, format, "NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND")
	for _, r := range all.Names() {
		fmt.Fprintf(table, format, output.Plain(r.Name), output.Plain(strings.Join(r.ShortNames, ",")), output.Plain(strings.TrimPrefix(r.Group+"/"+r.Version, "/")), r.Namespaced, output.Plain(r.Kind))
	}
	return cmp.Or(table.Flush(), errDone)
}
