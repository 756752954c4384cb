package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// terminal returns both ends of a new pseudoterminal. Programs write to screen, and tests read from output.
func terminal(t *testing.T) (screen, output *os.File) {
	output, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		need.Missing(t, "the test needs a pseudoterminal; mount devpts to enable it: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { output.Close() })
	raw, err := output.SyscallConn() // Fd would disable deadlines
	require.NoError(t, err)
	var n int
	require.NoError(t, raw.Control(func(fd uintptr) {
		require.NoError(t, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)) // unlocks the other end
		n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	}))
	require.NoError(t, err)
	screen, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { screen.Close() })
	return screen, output
}

// shown returns the text that a terminal shows after it has received the output.
func shown(output string) string {
	var lines []string
	for line := range strings.SplitSeq(output, "\r\n") {
		_, last, erased := strings.Cut(line, "\r\x1b[K")
		if erased {
			line = last
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestURLStaysBelowTheOutputOfLwcat(t *testing.T) {
	screen, output := terminal(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("bin", 0o700))
	// The script waits in wait, because SIGINT could make a read fail before the trap runs.
	script := "#!/bin/sh\ntrap 'kill $!; exit 130' INT\necho first; read go < go; echo second >&2; sleep 60 & wait\n"
	require.NoError(t, os.WriteFile(lwcat, []byte(script), 0o700))
	require.NoError(t, unix.Mkfifo("go", 0o600))
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout = screen

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- printPods(ctx, "http://server.example", "Dashboard: http://page.example") }()
	var received string
	waitFor := func(text string) {
		buffer := make([]byte, 4096)
		require.NoError(t, output.SetReadDeadline(time.Now().Add(time.Minute)))
		for shown(received) != text {
			n, err := output.Read(buffer)
			require.NoError(t, err, "the terminal shows %q", shown(received))
			received += string(buffer[:n])
		}
	}
	waitFor("first\nDashboard: http://page.example")
	require.NoError(t, os.WriteFile("go", []byte("\n"), 0))
	waitFor("first\nsecond\nDashboard: http://page.example")
	cancel()
	require.NoError(t, <-done)
}
