package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// command is what lwcat does if its first argument is this name, and not a resource's.
type command struct {
	name        string
	args        string // for the help, as "bash|zsh|fish"
	description string // for the help; "" keeps it out of there
	run         func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// commands returns them in the order of the help.
func commands() []command {
	return []command{
		{"serve", "FILE[@SPEED]", "play a recording as an API server", serve},
		{"completion", "bash|zsh|fish", "print a script that completes words in a shell", printCompletion},
		{"__complete", "WORD...", "", complete},
		{"man", "", "print the manual page, for man -l -", printMan},
		{"version", "", "tell which lwcat this is", printVersion},
		{"help", "[all]", "show this, or all flags", help},
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

// runCommand runs a subcommand, if args begin with one.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, found bool) {
	if len(args) == 0 {
		return 0, false
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return commandCode(c.run(ctx, args[1:], stdout, stderr), stderr), true
		}
	}
	return 0, false
}

// commandCode tells how a subcommand ended, and returns the exit code for it.
func commandCode(err error, stderr io.Writer) int {
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	}
	if usage, ok := errors.AsType[usageError](err); ok {
		return usageFailure(usage, stderr)
	}
	fmt.Fprintf(stderr, "lwcat: %s\n", output.Plain(err.Error()))
	return exitError
}

// usageFailure tells of a mistake on the command line.
func usageFailure(err error, stderr io.Writer) int {
	fmt.Fprintf(stderr, "lwcat: %v\nRun 'lwcat --help' for usage.\n", err)
	return exitUsage
}

// noArguments refuses what follows a subcommand that takes nothing.
func noArguments(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("%q is one argument too many", args[0])}
}
