//go:build unix

package main

import (
	"os"
	"os/exec"
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
