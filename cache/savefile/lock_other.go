//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package savefile

import (
	"errors"
	"os"
)

// lock always returns an error, because this system cannot lock a file and also rename it.
func lock(*os.File) (busy bool, err error) { return false, errors.ErrUnsupported }
