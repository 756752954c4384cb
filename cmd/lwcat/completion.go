package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
)

// These scripts call lwcat __complete.
var (
	//go:embed completion/lwcat.bash
	bashScript string
	//go:embed completion/lwcat.zsh
	zshScript string
	//go:embed completion/lwcat.fish
	fishScript string
)

// printCompletion implements lwcat completion bash|zsh|fish.
func printCompletion(_ context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) == 0 {
		return usageError{errors.New("completion needs the name of a shell: bash, zsh or fish")}
	}
	script, found := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[args[0]]
	if !found {
		return usageError{fmt.Errorf("unknown shell %q: expected bash, zsh or fish", args[0])}
	}
	if err := noArguments(args[1:]); err != nil {
		return err
	}
	_, err := io.WriteString(stdout, script)
	return err
}
