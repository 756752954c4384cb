// Command lwcat prints the events of Kubernetes collections: the cat for list-watch.
//
//	lwcat -s https://127.0.0.1:6443 --token "$TOKEN" -A pods deploy.apps
//
// Rules of its interface: events go to standard output and nothing else does; what happens to the connection is told on
// standard error; folding the printed lines always gives the server's state; nothing ends it but the user, a refusal
// at the start, or a broken output.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	exitDone        = 0
	exitError       = 1 // the server, the network or the output said no for good
	exitUsage       = 2
	exitTimeout     = 3   // what was waited for did not come
	exitInterrupted = 130 // as a shell says it of ^C
)

var errInterrupted = errors.New("interrupted")

func main() {
	// net/http logs bytes of unexpected responses, which may be a part of an object. The default log of interruptions, which
	// status.go prints anyway, uses the same logger.
	log.SetOutput(io.Discard)
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the last as its terminal is closed
	// A pipe that nobody reads any more is an error of a write, and ends it as others do: --resume and --record keep what
	// they have. It is not ignored, as plugins that we run would then ignore it, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		signal.Stop(signals) // a second ^C ends it the hard way
		cancel(errInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, isTerminal(os.Stdout)))
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, terminal bool) int {
	if code, found := runCommand(ctx, args, stdout, stderr); found {
		return code
	}
	config, err := parse(args, terminal)
	if errors.Is(err, errHelp) {
		return commandCode(help(ctx, nil, stdout, stderr), stderr)
	}
	if err != nil {
		return usageFailure(err, stderr)
	}
	status := &status{out: stderr}
	if file, ok := stderr.(*os.File); ok {
		status.terminal = isTerminal(file)
	}
	return exitCode(cat(ctx, config, stdout, status), config, status)
}

// exitCode reports the end of the run on standard error and returns the exit code.
func exitCode(err error, config *config, status *status) int {
	switch {
	case err == nil && config.limits.hasGoal():
		status.logf("the list is complete, and %s is still waited for", config.limits.goal())
		return exitTimeout
	case errors.Is(err, errCounted) && config.limits.condition != nil:
		status.logf("after %d events %s is still waited for", config.limits.count, config.limits.goal())
		return exitTimeout
	case err == nil, errors.Is(err, errDone), errors.Is(err, errCounted):
		return exitDone
	case errors.Is(err, errTimeout) && config.limits.hasGoal():
		status.logf("after %v %s was still waited for", config.limits.timeout, config.limits.goal())
		return exitTimeout
	case errors.Is(err, errTimeout) && config.limits.once:
		status.logf("after %v the list was not complete", config.limits.timeout)
		return exitTimeout
	case errors.Is(err, errTimeout):
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE): // whoever read our output has seen enough
		return exitDone
	}
	if usage, ok := errors.AsType[usageError](err); ok {
		return usageFailure(usage, status.out)
	}
	status.logf("%v", err)
	if hinted, ok := errors.AsType[*hintedError](err); ok {
		status.logf("hint: %s", hinted.hint)
	}
	return exitError
}

// isTerminal reports whether a person reads what is written to a file.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
