//go:build unix

package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// Load must reject named pipes, because reading a pipe could block forever.
func TestCredentialFilesAreRegular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	large := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 4<<20))
	for _, text := range []string{"tokenFile: %", "client-certificate: %; client-key: /x"} {
		for path, want := range map[string]string{pipe: "is not a regular file", large: "is larger than the limit of 1 MiB"} {
			_, err := kubeconfig.Load(&kubeconfig.Options{Path: file(t, "server: 'https://x'", strings.ReplaceAll(text, "%", path))})
			require.ErrorContains(t, err, want, text)
			_, err = kubeconfig.Load(&kubeconfig.Options{Path: file(t, "server: 'https://x'; certificate-authority: "+path, "{}")})
			require.ErrorContains(t, err, want)
		}
	}
}
