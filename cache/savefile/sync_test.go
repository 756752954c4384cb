package savefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// disk records the file operations of a save.
type disk struct {
	done   []string
	synced string           // the content of the file when it was synced to disk
	fails  map[string]error // maps an operation to the error that it returns
}

// record replaces the package's file operations during one test. It returns a disk that records the calls.
func record(t *testing.T) *disk {
	d := &disk{fails: map[string]error{}}
	oldSync, oldRename := syncFile, rename
	t.Cleanup(func() { syncFile, rename = oldSync, oldRename })
	syncFile = func(file *os.File) error {
		operation := "sync file"
		if info, err := file.Stat(); err != nil {
			return err
		} else if info.IsDir() {
			operation = "sync folder " + filepath.Clean(file.Name())
		} else if text, err := os.ReadFile(file.Name()); err != nil {
			return err
		} else {
			d.synced = string(text)
		}
		return d.do(operation, func() error { return oldSync(file) })
	}
	rename = func(from, to string) error {
		return d.do("rename", func() error { return oldRename(from, to) })
	}
	return d
}

func (d *disk) do(operation string, f func() error) error {
	d.done = append(d.done, operation)
	if err := d.fails[operation]; err != nil {
		return err
	}
	return f()
}

// Save must sync the complete file before it renames the file, and sync the folder afterwards.
func TestSaveSurvivesPowerLoss(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	disk := record(t)
	require.NoError(t, Save(path, pods(t, "7", 100), origin, (*lw.Object).Raw))
	want := []string{"sync file", "rename", "sync folder " + folder}
	if runtime.GOOS == "windows" {
		want = want[:2]
	}
	require.Equal(t, want, disk.done)
	saved, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(saved), disk.synced)
}

// If the file cannot be synced, Save must keep the old file. If the folder cannot be synced, Save must return an error,
// except on file systems that do not support syncing folders.
func TestFailedSync(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	old, next := pods(t, "7", 100), pods(t, "8", 100)
	disk := record(t)
	require.NoError(t, Save(path, old, origin, (*lw.Object).Raw))
	broken := errors.New("input/output error")

	disk.fails["sync file"] = broken
	require.ErrorIs(t, Save(path, next, origin, (*lw.Object).Raw), broken)
	require.Equal(t, text(old), held(t, path))
	require.Equal(t, []string{"pods"}, names(t, folder))
	delete(disk.fails, "sync file")

	if runtime.GOOS == "windows" { // Windows cannot sync folders
		return
	}
	for failure, reported := range map[error]bool{broken: true, syscall.EINVAL: false, errors.ErrUnsupported: false} {
		disk.fails["sync folder "+folder] = failure
		err := Save(path, next, origin, (*lw.Object).Raw)
		require.Equal(t, reported, errors.Is(err, failure))
		require.Equal(t, reported, err != nil)
		require.Equal(t, text(next), held(t, path))
	}
}
