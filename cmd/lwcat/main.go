// Command lwcat prints the events of Kubernetes collections, like cat for list-watch.
//
//	lwcat -s https://127.0.0.1:6443 --token "$TOKEN" -A pods deploy.apps
//
// Standard output contains only events. Messages about the connection go to standard error. Applying the printed
// events always yields the server's state. lwcat runs until the user stops it, the server rejects its first
// requests, or the output fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/condition"
	"github.com/seed-6d2a410a/listwatch/internal/nearest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1 // a permanent error from the server, the network or the output
	exitUsage       = 2
	exitTimeout     = 3   // the run ended before the awaited condition or event occurred
	exitInterrupted = 130 // the run ended before --until or --count was met
)

var errInterrupted = errors.New("interrupted")

func main() {
	// net/http logs unexpected response bytes, which may contain parts of an object. lw would also log
	// interruptions here, but lwcat reports them itself.
	log.SetOutput(io.Discard)
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // SIGHUP: the terminal was closed
	// With this handler, a write to a closed pipe returns an error, so that --resume and --record can still save
	// their files. lwcat cannot simply ignore SIGPIPE, because credential plugins would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		signal.Stop(signals) // a second ^C kills the process
		cancel(errInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, isTerminal(os.Stdout)))
}

// exitCode returns the exit code for err and prints a message if the run failed.
func exitCode(err error, config *config, status *status) int {
	switch {
	case errors.Is(err, errUnmet):
		status.logf("the list is complete, but %s was not reached", config.limits.goal())
		return exitTimeout
	case errors.Is(err, errCounted) && len(config.limits.until) > 0:
		status.logf("--count %d was reached before %s", config.limits.count, config.limits.goal())
		return exitTimeout
	case err == nil, errors.Is(err, errDone), errors.Is(err, errCounted):
		return exitDone
	case errors.Is(err, errTimeout) && config.limits.hasGoal():
		status.logf("timed out after %v waiting for %s", config.limits.timeout, config.limits.goal())
		return exitTimeout
	case errors.Is(err, errTimeout) && config.limits.once:
		status.logf("timed out after %v: the list is not complete", config.limits.timeout)
		return exitTimeout
	case errors.Is(err, errTimeout):
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, errFailed):
		return exitError
	case errors.Is(err, syscall.EPIPE) && config.limits.hasGoal():
		status.logf("standard output was closed before %s was reached", config.limits.goal())
		return exitTimeout
	case errors.Is(err, syscall.EPIPE): // the reader of the pipe, for example head, has exited
		return exitDone
	}
	if usage, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(status.out, "lwcat: %v\nRun 'lwcat --help' for usage.\n", usage)
		return exitUsage
	}
	status.logError(err)
	return exitError
}

// isTerminal reports whether a file is a terminal or another character device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// usageError is an error in the command line.
type usageError struct{ error }

// run runs lwcat and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, terminal bool) int {
	c, status := new(config), &status{out: stderr}
	if file, ok := stderr.(*os.File); ok {
		status.terminal = isTerminal(file)
	}
	root := newRoot(c, status, terminal)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	parsed := false
	root.PersistentPreRun = func(*cobra.Command, []string) { parsed = true }
	err := root.ExecuteContext(ctx)
	if err != nil && !parsed {
		err = usageError{err}
	}
	return exitCode(err, c, status)
}

// newRoot returns the lwcat command with its subcommands. Parsing the command line sets the fields of c.
func newRoot(c *config, status *status, terminal bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "lwcat [flags] RESOURCE|PATH...",
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, hint := c.fromKubectl(cmd.Flags(), args)
			if err := c.validate(cmd.Flags(), args, terminal); err != nil {
				return usageError{err}
			}
			if hint != "" {
				status.logf("%s", hint)
			}
			err := cat(cmd.Context(), c, cmd.OutOrStdout(), status)
			if err == nil && c.limits.hasGoal() {
				return errUnmet
			}
			return err
		},
	}
	for _, section := range c.sections(terminal) {
		root.Flags().AddFlagSet(section.flags)
	}
	root.SetHelpFunc(printHelp)
	root.SetFlagErrorFunc(suggestFlag)
	addCommands(root)
	c.registerCompletions(root)
	return root
}

// addCommands adds the subcommands. Cobra itself adds the completion subcommand.
func addCommands(root *cobra.Command) {
	help := &cobra.Command{
		Use: "help [" + strings.Join(topics, "|") + "|COMMAND]", Short: "show this help, all flags, or the syntax of --until", ValidArgs: topics, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return printTopic(root, append(args, "")[0]) },
	}
	root.SetHelpCommand(help)
	root.AddCommand(help, &cobra.Command{
		Use: "man", Short: "print the manual page; view it with 'lwcat man | man -l -'", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), manual(root))
			return err
		},
	}, &cobra.Command{
		Use: "version", Short: "print the version of lwcat", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lwcat %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	})
}

// naming explains the arguments in the help.
const naming = `
RESOURCE is a name as in kubectl, such as pods, po, deploy.apps, deployments.v1.apps or pod/web-0.
The name "everything" stands for all resources of the server, also those that appear later.
PATH is the path of a collection on the server, for example /apis/apps/v1/deployments.
`

const examples = `
Examples:
  lwcat -A pods                                follow the Pods in all namespaces
  lwcat pods,svc deploy/web -n shop,shop-test -o diff
  lwcat pod/web-0 --until condition=Ready --timeout 2m && echo up
  lwcat --once nodes -o jsonl | jq -r .object.metadata.name
  lwcat -n shop everything                     follow all resources in a namespace
`

const exitCodes = `
Exit codes: 0 success; 1 failure; 2 wrong usage; 3 the condition or event of --until, --count or
--once did not occur; 130 interrupted.
`

// commonFlags are the flags that --help shows. `lwcat help all` and `lwcat man` show all flags.
var commonFlags = []string{
	"context", "server", "namespace", "all-namespaces", "selector", "field-selector", "output",
	"once", "watch-only", "count", "timeout", "until",
}

// helpWidth is the line width of the help in columns.
const helpWidth = 100

// topics are the arguments of lwcat help.
var topics = []string{"all", "until"}

// printTopic prints a topic of lwcat help.
func printTopic(root *cobra.Command, topic string) error {
	text := ""
	switch command, _, err := root.Find([]string{topic}); {
	case topic == "" || topic == "all":
		text = helpText(root, topic == "all")
	case topic == "until":
		text = "--until CONDITION exits when the condition holds. With several --until flags, all conditions must hold.\n\n" + condition.Grammar
	case err != nil || command == root:
		return usageError{fmt.Errorf("unknown help topic %q: expected %s or a command", topic, strings.Join(topics, ", "))}
	default:
		return command.Help()
	}
	_, err := io.WriteString(root.OutOrStdout(), text)
	return err
}

// suggestFlag adds a suggestion to an error: similar names for an unknown flag, or a unit for a duration that lacks
// one.
func suggestFlag(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Value.Type() == "duration" {
		if _, err := strconv.ParseFloat(invalid.GetValue(), 64); err == nil {
			return fmt.Errorf("--%[1]s %[2]s has no unit: write --%[1]s %[2]ss", invalid.GetFlag().Name, invalid.GetValue())
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := nearest.Likely(unknown.GetSpecifiedName(), names); len(near) > 0 && len(unknown.GetSpecifiedName()) > 2 {
		return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
	}
	return err
}

// printHelp prints the help for a command.
func printHelp(cmd *cobra.Command, _ []string) {
	text := fmt.Sprintf("%s\n\nUsage:\n  %s\n\n%s", strings.TrimSpace(cmd.Long), cmd.UseLine(), cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	for _, c := range cmd.Commands() {
		text += fmt.Sprintf("  %-38s %s\n", c.CommandPath(), c.Short)
	}
	if !cmd.HasParent() {
		text = helpText(cmd, false)
	}
	_, _ = io.WriteString(cmd.OutOrStdout(), text) // cobra's help functions cannot return errors
}

// helpText returns the help with the common flags or with all flags.
func helpText(root *cobra.Command, all bool) string {
	var text strings.Builder
	text.WriteString("lwcat prints the events of Kubernetes collections until you stop it.\n\nUsage:\n  " + root.Use + "\n")
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(&text, "  %-38s %s\n", "lwcat "+c.Use, c.Short)
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

// pick returns copies of the named flags. It shortens their usage to the first clause.
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

// errUnmet reports that the run ended before --until or --count was met.
var errUnmet = errors.New("the list is complete, but the condition was not met")

// kubectlVerbs are the kubectl verbs that fromKubectl accepts.
var kubectlVerbs = []string{"get", "list", "describe", "watch"}

// fromKubectl converts arguments in kubectl's form, for example "get pods web-0" to "pods/web-0". It also returns a
// hint that shows the short form. As in kubectl, get lists once unless -w is set.
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
