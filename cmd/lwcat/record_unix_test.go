//go:build unix

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFailedRecordingExits checks that lwcat reports the write error and prints only complete lines.
func TestFailedRecordingExits(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	create(t, server, "configmaps", named("first"))
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	var out, errs lockedBuffer
	done := make(chan int)
	go func() {
		done <- run(t.Context(), []string{"-s", server.URL, "cm", "--record", pipe, "-o", "json", "--output-watch-events"}, &out, &errs, false)
	}()
	reader, err := os.Open(pipe)
	require.NoError(t, err)
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "LIST_STARTED")
	eventually(t, "the listed object", func() bool { return strings.Contains(out.String(), "first") })
	syscall.ForkLock.RLock() // otherwise a child process that another test is starting could keep the pipe open
	err = reader.Close()
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	create(t, server, "configmaps", named("second"))
	require.Equal(t, exitError, <-done)
	require.Regexp(t, `(?m)^lwcat: --record: write .*: broken pipe$`, errs.String())
	require.Equal(t, []string{"ADDED ConfigMap default/first"}, describe(t, out.String()))
}
