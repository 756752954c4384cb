//go:build !unix

package main

import (
	"context"
	"os"
)

// terminalSize says of a terminal that its size is not known.
func terminalSize(f *os.File) (width, height int, ok bool) { return 0, 0, isTerminal(f) }

// onReaderGone is not known here: the next write finds out.
func onReaderGone(context.Context, *os.File, func()) {}
