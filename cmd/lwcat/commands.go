package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// command is a subcommand of lwcat.
type command struct {
	name        string
	args        string // shown in the help, for example "bash|zsh|fish"
	description string // shown in the help; "" hides the command
	run         func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// commands returns the subcommands in the order of the help.
func commands() []command {
	return []command{
		{"serve", "FILE[@SPEED]", "serve a recording as an API server", serve},
		{"completion", "bash|zsh|fish", "print a completion script for a shell", printCompletion},
		{"__complete", "WORD...", "", complete},
		{"man", "", "print the manual page, for man -l -", printMan},
		{"version", "", "print the version of lwcat", printVersion},
		{"help", "[all]", "show this help, or all flags", help},
	}
}

// usageError is an error in the command line.
type usageError struct{ error }

// runCommand runs the subcommand that args begin with, if any.
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

// commandCode prints the error of a subcommand and returns the exit code.
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

// usageFailure prints an error in the command line.
func usageFailure(err error, stderr io.Writer) int {
	fmt.Fprintf(stderr, "lwcat: %v\nRun 'lwcat --help' for usage.\n", err)
	return exitUsage
}

// noArguments rejects arguments of a subcommand that accepts none.
func noArguments(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("unexpected argument %q", args[0])}
}
