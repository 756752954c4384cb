package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// measure carries out a task in a process of its own, against a server in another.
func measure(ctx context.Context, t task) (r result, err error) {
	ctx, stop := context.WithCancel(ctx)
	server := self(ctx, "server", t.Transport)
	_, badInput := server.StdinPipe() // ends with this process, however that ends
	out, badOutput := server.StdoutPipe()
	if err := errors.Join(badInput, badOutput, server.Start()); err != nil {
		stop()
		return r, err
	}
	defer func() {
		stop()
		_ = server.Wait()
	}()
	if err := json.NewDecoder(out).Decode(&t.Server); err != nil {
		return r, fmt.Errorf("the server does not start: %w", err)
	}
	given, err := json.Marshal(t)
	if err != nil {
		return r, err
	}
	said, err := self(ctx, "client", string(given)).Output()
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(said, &r)
}

// self is this program in another role.
func self(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	must(err)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = os.Stderr
	return cmd
}
