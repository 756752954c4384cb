//go:build unix

package savefile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// asNobody returns a command that runs one test as the user nobody. The caller must be root.
func asNobody(t *testing.T, test string, env ...string) *exec.Cmd {
	const nobody = 65534
	folder := publicFolder(t, 0o777)
	binary := filepath.Join(folder, "test") // a copy, because only root may be able to read the folder of the original
	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(binary, text, 0o755))
	cmd := exec.Command(binary, "-test.run=^"+test+"$", "-test.v")
	cmd.Dir = folder
	cmd.Env = append(env, "TMPDIR="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// publicFolder creates a folder with this mode. Unlike t.TempDir, it is not within a folder that only its owner can read.
func publicFolder(t *testing.T, mode os.FileMode) string {
	folder, err := os.MkdirTemp("", "listwatch")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, mode))
	return folder
}

// runAsUser reports whether to run the test in this process. File permissions do not restrict root. If the process runs
// as root, runAsUser therefore runs the test in a process of another user and returns false.
func runAsUser(t *testing.T) bool {
	if os.Getuid() != 0 {
		return true
	}
	out, err := asNobody(t, t.Name()).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

// In a folder that the user may not write, Save must fail with a permission error and keep the file.
func TestSaveToReadOnlyFolder(t *testing.T) {
	if !runAsUser(t) {
		return
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	old := pods(t, "7", 100)
	require.NoError(t, Save(path, old, origin, (*lw.Object).Raw))
	leftovers := filepath.Join(folder, "pods.123.tmp")
	require.NoError(t, os.WriteFile(leftovers, nil, 0o600))
	require.NoError(t, os.Chmod(folder, 0o500))
	defer func() { require.NoError(t, os.Chmod(folder, 0o700)) }()
	err := Save(path, pods(t, "8", 100), origin, (*lw.Object).Raw)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, `savefile: save to "`+path+`": `)
	require.Equal(t, text(old), held(t, path))
	require.Equal(t, []string{"pods", "pods.123.tmp"}, names(t, folder))
}

// Callers must be able to distinguish an unreadable file or folder from a missing file and from a damaged file.
func TestRestoreOfUnreadableFile(t *testing.T) {
	if !runAsUser(t) {
		return
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	require.NoError(t, Save(path, pods(t, "7", 100), origin, (*lw.Object).Raw))
	for _, unreadable := range []string{path, folder} {
		require.NoError(t, os.Chmod(unreadable, 0))
		err := Restore(path, &target{}, origin, lw.ParseObject)
		require.NoError(t, os.Chmod(unreadable, 0o700))
		require.ErrorIs(t, err, os.ErrPermission)
		require.ErrorContains(t, err, path)
		require.False(t, errors.Is(err, os.ErrNotExist) || errors.Is(err, cache.ErrCorrupt))
	}
	require.NoError(t, os.Chmod(path, 0), "Save must replace a file that it may not read, because the folder allows it")
	next := pods(t, "8", 100)
	require.NoError(t, Save(path, next, origin, (*lw.Object).Raw))
	require.Equal(t, text(next), held(t, path))
}

// The rename fails after the temporary file was written. Save must return the error, keep the old file and remove the
// temporary file. The next save must succeed.
func TestRenameFails(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	disk := record(t)
	old, next := pods(t, "7", 100), pods(t, "8", 100)
	require.NoError(t, Save(path, old, origin, (*lw.Object).Raw))
	for _, failure := range []error{syscall.EACCES, syscall.EIO, syscall.EXDEV, syscall.EBUSY} {
		disk.fails["rename"] = failure
		require.ErrorIs(t, Save(path, next, origin, (*lw.Object).Raw), failure)
		require.Equal(t, text(old), held(t, path))
		require.Equal(t, []string{"pods"}, names(t, folder))
	}
	delete(disk.fails, "rename")
	require.NoError(t, Save(path, next, origin, (*lw.Object).Raw))
	require.Equal(t, text(next), held(t, path))
}

// In a folder with the sticky bit, such as /tmp, only the owner of a file may replace it. Save must fail in the rename.
func TestRenameInStickyFolder(t *testing.T) {
	if os.Getuid() != 0 { // only root can create a file of another user
		return
	}
	folder := publicFolder(t, 0o777|os.ModeSticky)
	path := filepath.Join(folder, "pods")
	old := pods(t, "7", 100)
	require.NoError(t, Save(path, old, origin, (*lw.Object).Raw))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text(old), held(t, path))
	out, err := asNobody(t, "TestSaveSurvivesKill", savesFor+"="+path).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "operation not permitted")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole, after)
	require.Equal(t, []string{"pods"}, names(t, folder))
}
