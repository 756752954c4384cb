// Command lwcat prints the events of Kubernetes collections, like cat for list-watch.
//
//	lwcat -s https://127.0.0.1:6443 --token "$TOKEN" -A pods deploy.apps
//
// Standard output contains only events. Messages about the connection go to standard error. Applying the printed events
// always yields the server's state. lwcat runs until the user stops it, the server rejects the first requests, or the
// output fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1 // a permanent error of the server, the network or the output
	exitUsage       = 2
	exitTimeout     = 3   // the run ended before the awaited condition or event occurred
	exitInterrupted = 130 // the shell's exit code for ^C
)

var errInterrupted = errors.New("interrupted")

func main() {
	// net/http logs unexpected response bytes, which may contain parts of an object. By default, the engine also logs
	// interruptions to this logger, but lwcat reports them itself.
	log.SetOutput(io.Discard)
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // SIGHUP: the terminal was closed
	// With this handler, a write to a closed pipe returns an error, so that --resume and --record still save their
	// files. The program must not ignore SIGPIPE, because credential plugins would inherit that setting.
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
