//go:build unix

package secretfile_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/transport/internal/secretfile"
	"github.com/stretchr/testify/require"
)

func TestSpecialFilesAreErrors(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero"} {
		_, err := secretfile.Read("token file", path)
		require.EqualError(t, err, fmt.Sprintf("token file %q is not a regular file", path))
	}
}
