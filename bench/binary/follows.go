package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// follows fails unless the program prints what happens on a server.
func follows(ctx context.Context, path string) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	server, err := lwtest.Start(nil)
	if err != nil {
		return err
	}
	defer server.Close()
	program := exec.CommandContext(ctx, path, server.URL)
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		return err
	}
	if err := program.Start(); err != nil {
		return err
	}
	defer func() {
		stop()
		_ = program.Wait() // it was killed
	}()
	return course(server, out)
}

// course has a Pod come, change and go, and reads what is printed of each.
func course(server *lwtest.Server, out io.Reader) error {
	put := func(phase string) func() error {
		return func() error {
			_, err := server.Put("pods", `{"metadata":{"namespace":"shop","name":"web"},"status":{"phase":"`+phase+`"}}`)
			return err
		}
	}
	lines := bufio.NewScanner(out)
	for _, step := range []struct {
		happens func() error
		printed string
	}{
		{put("Pending"), "ADDED shop web Pending"},
		{put("Running"), "MODIFIED shop web Running"},
		{func() error { return server.Delete("pods", "shop", "web") }, "DELETED shop web Running"},
	} {
		if err := step.happens(); err != nil {
			return err
		}
		if !lines.Scan() || lines.Text() != step.printed {
			return fmt.Errorf("printed %q, and not %q", lines.Text(), step.printed)
		}
	}
	return nil
}
