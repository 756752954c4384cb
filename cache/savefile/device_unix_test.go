//go:build unix

package savefile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// Save must reject a path that is not a regular file. Otherwise root could replace a device with a file.
func TestDevicesAreNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pods")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	require.ErrorContains(t, Save(path, pods(t, "7", 1), origin, (*lw.Object).Raw), "not a regular file")
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe, info.Mode().Type())
}
