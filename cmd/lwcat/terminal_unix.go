//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os"
	"syscall"
	"unsafe"
)

// terminalSize returns the columns and lines of a terminal; ok is false if the file is none.
func terminalSize(f *os.File) (width, height int, ok bool) {
	var size struct{ rows, columns, x, y uint16 }
	connection, err := f.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = connection.Control(func(descriptor uintptr) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, descriptor, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
		ok = errno == 0
	})
	return int(size.columns), int(size.rows), ok && err == nil
}
