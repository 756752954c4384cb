//go:build unix

package main

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize returns the columns and lines of a terminal; ok is false if the file is none.
func terminalSize(f *os.File) (width, height int, ok bool) {
	connection, err := f.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = connection.Control(func(descriptor uintptr) {
		if size, err := unix.IoctlGetWinsize(int(descriptor), unix.TIOCGWINSZ); err == nil {
			width, height, ok = int(size.Col), int(size.Row), true
		}
	})
	return width, height, ok && err == nil
}

// onReaderGone calls gone as soon as nobody reads a pipe any more, as head has seen enough, unless ctx ends before. A write would
// fail, too, but not before there is something to write.
func onReaderGone(ctx context.Context, out *os.File, gone func()) {
	info, err := out.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	const look = 1000 // milliseconds, after which ctx is asked
	for ctx.Err() == nil {
		pipe := []unix.PollFd{{Fd: int32(out.Fd())}}
		n, err := unix.Poll(pipe, look)
		if err != nil && err != unix.EINTR {
			return
		}
		if n > 0 && pipe[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			gone()
		}
		if n > 0 {
			return
		}
	}
}
