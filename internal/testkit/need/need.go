// Package need is for tests that need what not every machine has.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program. Where there is none, what is missing is told by [Missing]; enable says what brings it,
// as in "on Debian: apt install fish".
func Program(t testing.TB, name, enable string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "there is no %s; %s", name, enable)
	}
	return path
}

// Missing skips a test that lacks something, with a message that says what, and what would enable the test. With LISTWATCH_CI in the
// environment it fails the test instead: where everything is to be tested, what is skipped must not look green.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("LISTWATCH_CI") != "" {
		t.Fatalf(format, args...)
	} else {
		t.Skipf(format, args...)
	}
}
