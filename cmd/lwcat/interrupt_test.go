//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// blocked starts lwcat and returns its command. The reader of its output stops after the first byte, so that lwcat
// blocks while writing.
func blocked(t *testing.T) *exec.Cmd {
	server := start(t, nil)
	create(t, server, "configmaps", `{"metadata":{"name":"large"},"data":{"k":"`+strings.Repeat("x", 1<<20)+`"}}`)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() }) // keeps the pipe open during the test
	cmd := exec.CommandContext(t.Context(), "lwcat", "-s", server.URL, "cm")
	cmd.Stdout = writer
	require.NoError(t, cmd.Start())
	require.NoError(t, writer.Close())
	_, err = reader.Read(make([]byte, 1))
	require.NoError(t, err)
	require.Len(t, server.Requests(lwtest.Watches), 1)
	return cmd
}

func TestSecondInterruptKills(t *testing.T) {
	cmd := blocked(t)
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	var err error
	eventually(t, "the process to exit", func() bool {
		_ = cmd.Process.Signal(os.Interrupt) // fails if the process has exited
		select {
		case err = <-ended:
			return true
		default:
			return false
		}
	})
	status := err.(*exec.ExitError).Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled(), "%v", err)
	require.Equal(t, syscall.SIGINT, status.Signal(), "the process must end with SIGINT, so that a shell reports exit status 130")
}

// TestInterruptWhileKubeconfigBlocks checks that lwcat can be interrupted while it reads a kubeconfig from a named
// pipe that has no writer.
func TestInterruptWhileKubeconfigBlocks(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "config")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	var out, errs lockedBuffer
	require.Equal(t, exitInterrupted, run(ctx, []string{"--kubeconfig", pipe, "po"}, &out, &errs, false))
	require.Empty(t, errs.String())
	// Opening and closing the pipe ends the blocked read.
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
}
