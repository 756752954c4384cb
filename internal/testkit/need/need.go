// Package need skips a test if a program or setting that the test requires is missing. In CI, it fails the test
// instead.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of an installed program. If the program is missing, Program calls [Missing]. `enable`
// explains how to install it, for example "on Debian: apt install fish".
func Program(t testing.TB, name, enable string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed; %s", name, enable)
	}
	return path
}

// Missing skips a test because a requirement is missing. The message names the requirement and explains how to provide
// it. If LISTWATCH_CI is set, Missing fails the test instead, so that CI cannot skip it unnoticed.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("LISTWATCH_CI") != "" {
		t.Fatalf(format, args...)
	} else {
		t.Skipf(format, args...)
	}
}
