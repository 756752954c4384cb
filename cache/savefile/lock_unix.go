//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package savefile

import (
	"os"
	"syscall"
)

// lock locks a file until the file is closed or the process ends. busy is true if the file is already locked, even by
// this process. err is not nil if the file system does not support locks.
func lock(file *os.File) (busy bool, err error) {
	for {
		switch err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return true, nil
		default:
			return false, err
		}
	}
}
