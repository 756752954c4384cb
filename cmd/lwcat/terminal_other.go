//go:build !unix

package main

import (
	"context"
	"os"
)

// terminalWidth returns 0 because the size is not available on this platform.
func terminalWidth(*os.File) int { return 0 }

// onReaderGone does nothing on this platform. The next write reports a closed pipe.
func onReaderGone(context.Context, *os.File, func()) {}
