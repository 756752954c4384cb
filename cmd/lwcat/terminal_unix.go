//go:build unix

package main

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// onReaderGone waits until the reader of a pipe, for example head, closes it, and then calls gone. Without this check,
// lwcat would notice the closed pipe only at its next write, which may be hours later. If out is not a pipe, or if ctx
// is done first, onReaderGone returns without calling gone.
func onReaderGone(ctx context.Context, out *os.File, gone func()) {
	info, err := out.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	const look = 1000 // milliseconds between checks of ctx
	for ctx.Err() == nil {
		pipe := []unix.PollFd{{Fd: int32(out.Fd())}} // poll reports POLLERR and POLLHUP without being asked
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
