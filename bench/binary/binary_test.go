package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func TestProgramsPrintTheSame(t *testing.T) {
	programs, err := harness.Build(t.Context(), "-ldflags=-s -w", "./listwatch", "./clientgo")
	require.NoError(t, err)
	defer os.RemoveAll(programs)
	for _, name := range []string{"listwatch", "clientgo"} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			server, err := lwtest.Start(nil)
			require.NoError(t, err)
			defer server.Close()
			program := exec.CommandContext(ctx, filepath.Join(programs, name), server.URL)
			program.Stderr = os.Stderr
			output, err := program.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, program.Start())
			changePod(t, server, bufio.NewScanner(output))
			stop() // kills the program by canceling its context
			require.Error(t, program.Wait())
		})
	}
}

// changePod creates, updates and deletes a Pod, and checks that the program prints each change.
func changePod(t *testing.T, server *lwtest.Server, lines *bufio.Scanner) {
	put := func(phase string) error {
		_, err := server.Put("pods", `{"metadata":{"namespace":"shop","name":"web"},"status":{"phase":"`+phase+`"}}`)
		return err
	}
	for _, step := range []struct {
		change func() error
		want   string
	}{
		{func() error { return put("Pending") }, "ADDED shop web Pending"},
		{func() error { return put("Running") }, "MODIFIED shop web Running"},
		{func() error { return server.Delete("pods", "shop", "web") }, "DELETED shop web Running"},
	} {
		require.NoError(t, step.change())
		require.True(t, lines.Scan(), lines.Err())
		require.Equal(t, step.want, lines.Text())
	}
}
