//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnreadableKubeconfig(t *testing.T) {
	path := file(t, "config", "")
	require.NoError(t, os.Chmod(path, 0))
	if os.Geteuid() == 0 { // root ignores file modes, so the test runs lwcat as another user
		require.NoError(t, syscall.Setreuid(-1, 65534))
		defer func() { require.NoError(t, syscall.Setreuid(-1, 0)) }()
	}
	code, _, errs := lwcat(t, "po", "--kubeconfig", path)
	require.Equal(t, exitError, code)
	require.Equal(t, "lwcat: "+path+": permission denied\n", errs)
}
