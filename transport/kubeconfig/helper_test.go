//go:build !js

package kubeconfig_test

import (
	"crypto/tls"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// onlyFile sets the environment variables so that Load does not find the developer's own kubeconfig. It returns the new
// home folder.
func onlyFile(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": "",
		"KUBERNETES_SERVICE_PORT": "", "POD_NAMESPACE": ""} {
		t.Setenv(name, value)
	}
	return home
}

// write writes a file, creates its folder and returns its path.
func write[T string | []byte](t *testing.T, path string, text T) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// file writes a kubeconfig with one context and returns its path. The arguments contain the fields of the cluster and
// the user, separated by semicolons, for example "server: x; as: y".
func file(t *testing.T, cluster, user string) string {
	t.Helper()
	lines := func(text string) string { return "\n    " + strings.ReplaceAll(text, "; ", "\n    ") }
	return write(t, filepath.Join(t.TempDir(), "config"), `apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: east, user: dev}
clusters:
- name: east
  cluster:`+lines(cluster)+`
users:
- name: dev
  user:`+lines(user)+"\n")
}

func load(t *testing.T, path string) *kubeconfig.Config {
	t.Helper()
	config, err := kubeconfig.Load(&kubeconfig.Options{Path: path})
	require.NoError(t, err)
	return config
}

// config returns the TLS configuration of a server on 127.0.0.1 that requests client certificates.
func config(t *testing.T, a *certs.Authority) *tls.Config {
	t.Helper()
	config := a.Config(t, "api.test", "127.0.0.1")
	config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, a.Pool()
	return config
}

func b64[T string | []byte](text T) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
