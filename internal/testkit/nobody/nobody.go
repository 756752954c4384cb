//go:build unix

// Package nobody runs tests without root's privileges.
package nobody

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Run runs a test that needs files to which the user has no access. Root can access all files, and CI runs as root.
// Therefore, if the process runs as root, Run starts the test binary again as the user nobody. The new process runs
// only the test t.
func Run(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getuid() != 0 {
		test(t)
		return
	}
	const user = 65534 // user and group ID of nobody
	folder := t.TempDir()
	// The user nobody may be unable to enter the folder of the test binary. Run therefore copies the binary into folder,
	// gives folder to nobody, and lets nobody enter the folder above it.
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755))
	require.NoError(t, os.Chown(folder, user, user))
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	path := filepath.Join(folder, "test")
	require.NoError(t, os.WriteFile(path, program, 0o755))

	cmd := exec.Command(path, "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "TMPDIR="+folder, "HOME="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name()+" ") // the exit code is also 0 if the test did not run
}
