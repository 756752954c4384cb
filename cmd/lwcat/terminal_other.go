//go:build !unix

package main

import (
	"context"
	"os"
)

// onReaderGone does nothing on this platform. The next write reports a closed pipe.
func onReaderGone(context.Context, *os.File, func()) {}
