//go:build unix

package secretfile

import "syscall"

const nonblock = syscall.O_NONBLOCK // without it, opening a named pipe blocks until another process opens the pipe
