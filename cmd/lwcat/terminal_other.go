//go:build !unix

package main

import (
	"context"
	"os"
)

// terminalSize returns zeros because the size is not available on this platform.
func terminalSize(f *os.File) (width, height int, ok bool) { return 0, 0, isTerminal(f) }

// onReaderGone does nothing on this platform. The next write reports a closed pipe.
func onReaderGone(context.Context, *os.File, func()) {}
