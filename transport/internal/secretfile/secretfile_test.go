//go:build !js

package secretfile_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/transport/internal/secretfile"
	"github.com/stretchr/testify/require"
)

// Kubernetes mounts Secrets as symbolic links, so Read must follow them.
func TestReadsRegularFiles(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "token"), filepath.Join(folder, "link")
	require.NoError(t, os.Symlink(path, link))
	for _, text := range []string{"", "token", strings.Repeat("x", 1<<20)} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		read, err := secretfile.Read("token file", link)
		require.NoError(t, err)
		require.Equal(t, text, string(read))
	}
	_, err := secretfile.Read("token file", filepath.Join(folder, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.IsType(t, &fs.PathError{}, err)
}

func TestLargeFilesAreErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, size := range []int64{1<<20 + 1, 4 << 20, 1 << 40} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, size))
		_, err := secretfile.Read("token file", path)
		require.EqualError(t, err, fmt.Sprintf("token file %q is larger than the limit of 1 MiB", path))
	}
}

func TestFoldersAreErrors(t *testing.T) {
	folder := t.TempDir()
	_, err := secretfile.Read("token file", folder)
	require.EqualError(t, err, fmt.Sprintf("token file %q is not a regular file", folder))
}
