//go:build unix

package main

import (
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
