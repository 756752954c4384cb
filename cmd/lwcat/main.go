// Command lwcat prints the events of Kubernetes collections, like cat for list-watch.
//
//	lwcat -s https://127.0.0.1:6443 --token "$TOKEN" -A pods deploy.apps
//
// Standard output contains only events. Messages about the connection go to standard error. Applying the printed
// events always yields the server's state. lwcat runs until the user stops it, the server rejects its first
// requests, or the output fails.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitDone    = 0
	exitError   = 1 // a permanent error from the server, the network or the output
	exitUsage   = 2
	exitTimeout = 3   // the run ended before its goal, or timed out before the server answered; wait and rollout exit with exitError
	exitSignal  = 128 // plus the number of the signal that ended the run, as in shells; for example 130 after ^C
)

// signalError is the signal that ended the run.
type signalError syscall.Signal

func (e signalError) Error() string { return "interrupted: " + syscall.Signal(e).String() }

func main() {
	// net/http logs unexpected response bytes, which may contain parts of an object. lw would also log
	// interruptions here, but lwcat reports them itself.
	log.SetOutput(io.Discard)
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it, so that lwcat continues without its terminal
		signal.Notify(signals, syscall.SIGHUP) // a closed terminal sends SIGHUP
	}
	// Without this handler, a write to a closed pipe would kill lwcat before --resume and --record save their files.
	// With it, the write returns EPIPE. lwcat does not ignore SIGPIPE, because credential plugins would inherit that
	// setting.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		received := <-signals
		signal.Stop(signals) // a second ^C kills the process
		cancel(signalError(received.(syscall.Signal)))
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, isTerminal(os.Stdout)))
}

// exitCode returns the exit code for err and prints a message if the run failed. A script that waits for a goal must be
// able to distinguish the goal from other ends of the run.
func exitCode(err error, config *config, status *status) int {
	goal, unmet := config.limits.goal(), exitTimeout // the run fails with unmet if it ended before the goal
	if config.limits.verb != "" {
		goal, unmet = "the condition on "+strings.Join(config.resources.names, ", "), exitError // as kubectl does
	}
	// Without a goal, a timeout is a success, but only after the server has answered. --wait requires an answer in any case.
	if goal == "" && !status.answered.Load() && (config.resources.wait || errors.Is(err, errTimeout)) {
		goal = "the server and the resources"
	}
	signal, interrupted := errors.AsType[signalError](err)
	_, network := errors.AsType[*net.OpError](err) // a connection that the server closes may also cause EPIPE
	closed := errors.Is(err, syscall.EPIPE) && !network
	switch usage, isUsage := errors.AsType[usageError](err); {
	case err == nil, errors.Is(err, errDone), errors.Is(err, errCounted) && len(config.limits.until) == 0:
		return exitDone
	case isUsage:
		fmt.Fprintf(status.out, "lwcat: %v\nRun 'lwcat --help' for usage.\n", usage)
		return exitUsage
	case interrupted:
		return exitSignal + int(signal)
	case errors.Is(err, errFailed): // each stream has already logged its error
		return exitError
	case errors.Is(err, errUnmet):
		status.logf("the list is complete, but %s was not reached", goal)
	case errors.Is(err, errCounted):
		status.logf("--count %d was reached before %s", config.limits.count, goal)
	// With --once, the reader of a pipe such as "lwcat --once pods | head" decides how much of the list it needs.
	case goal == "" && errors.Is(err, errTimeout), (goal == "" || config.limits.once && !config.limits.hasGoal()) && closed:
		return exitDone
	case errors.Is(err, errTimeout):
		status.logf("timed out after %v waiting for %s", config.limits.timeout, goal)
	case closed: // the reader of the pipe, for example head, has exited
		status.logf("standard output was closed before %s was reached", goal)
	default:
		status.logError(err)
		return exitError
	}
	for _, reason := range config.limits.watcher.Unmet() {
		status.logf("%s", reason)
	}
	return unmet
}

// isTerminal reports whether out is a terminal or another character device.
func isTerminal(out io.Writer) bool {
	file, _ := out.(*os.File) // nil for other writers, and then Stat fails
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// usageError is an error in the command line.
type usageError struct{ error }

// run runs lwcat and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, terminal bool) int {
	c, status := &config{args: args}, &status{out: stderr, terminal: terminal || isTerminal(stderr)}
	root := newRoot(c, status, terminal)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	parsed := false // whether cobra has accepted the command line, so that later errors are not usage errors
	root.PersistentPreRun = func(*cobra.Command, []string) { parsed = true }
	err := root.ExecuteContext(ctx)
	if err != nil && !parsed {
		// In "lwcat delete pods --force", the parser rejects the flag before fromKubectl sees the verb.
		if names := root.Flags().Args(); len(names) > 0 && slices.Contains(otherVerbs, names[0]) {
			err = c.useKubectl()
		}
		err = usageError{err}
	}
	return exitCode(err, c, status)
}

// newRoot returns the lwcat command with its subcommands. Executing it parses the command line into c and runs lwcat.
func newRoot(c *config, status *status, terminal bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "lwcat [flags] RESOURCE|PATH...",
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := c.fromKubectl(cmd.Flags(), args)
			if err == nil {
				err = c.validate(cmd.Flags(), args, terminal)
			}
			if err != nil {
				return usageError{err}
			}
			err = cat(cmd.Context(), c, cmd.OutOrStdout(), status)
			if err == nil && c.limits.hasGoal() {
				return errUnmet
			}
			return err
		},
	}
	root.Flags().AddFlagSet(c.flags(terminal))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), help(cmd)) // cobra's help functions cannot return errors
	})
	root.SetFlagErrorFunc(explainFlag)
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(aliases.get(name), name))
	})
	addCommands(root)
	c.registerCompletions(root)
	return root
}

// errUnmet reports that the run ended before --until or --count was met.
var errUnmet = errors.New("the list is complete, but the condition was not met")
