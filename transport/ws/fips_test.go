//go:build !js

package ws

import (
	"crypto/fips140"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// SHA-1 panics with GODEBUG=fips140=only. The test starts itself in a new process with this setting.
func TestStrictFIPS(t *testing.T) {
	if !fips140.Enforced() {
		strict := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStrictFIPS$", "-test.v")
		strict.Env = append(os.Environ(), "GODEBUG=fips140=only")
		said, err := strict.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), "--- PASS: TestStrictFIPS")
		return
	}
	_, err := open(t.Context(), t, &scriptedConn{step: 100}, nil, 1<<20)
	require.Equal(t, errFIPS, err)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
