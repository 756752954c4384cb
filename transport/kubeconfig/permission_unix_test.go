//go:build unix

package kubeconfig_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/nobody"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// deny removes all permissions of a file or folder until the test ends.
func deny(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Chmod(path, 0))
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
}

// Each error must name the file that cannot be read.
func TestDeniedFiles(t *testing.T) { nobody.Run(t, testDeniedFiles) }

func testDeniedFiles(t *testing.T) {
	authority := certs.NewAuthority(t)
	cert, key := authority.Issue(t, "jane")
	for name, c := range map[string]struct {
		cluster, user string
		denied, want  string
	}{
		"kubeconfig":            {"server: https://a", "{}", "kube/config", "~/kube/config: permission denied"},
		"folder":                {"server: https://a", "{}", "kube", "~/kube/config: permission denied"},
		"token file":            {"server: https://a", "tokenFile: token", "kube/token", `~/kube/config:14:16: user "dev": tokenFile: open HOME/kube/token: permission denied`},
		"certificate authority": {"server: https://a; certificate-authority: ca", "{}", "kube/ca", `~/kube/config:11:28: cluster "east": certificate-authority: open HOME/kube/ca: permission denied`},
		"client certificate":    {"server: https://a", "client-certificate: cert; client-key: key", "kube/cert", `~/kube/config:14:25: user "dev": client-certificate: open HOME/kube/cert: permission denied`},
		"client key":            {"server: https://a", "client-certificate: cert; client-key: key", "kube/key", `~/kube/config:15:17: user "dev": client-key: open HOME/kube/key: permission denied`},
	} {
		t.Run(name, func(t *testing.T) {
			home := onlyFile(t)
			text, err := os.ReadFile(file(t, c.cluster, c.user))
			require.NoError(t, err)
			path := write(t, home+"/kube/config", text)
			for name, text := range map[string][]byte{"token": []byte("t1"), "ca": authority.PEM, "cert": cert, "key": key} {
				write(t, home+"/kube/"+name, text)
			}
			_, err = kubeconfig.Load(&kubeconfig.Options{Path: path})
			require.NoError(t, err)
			deny(t, filepath.Join(home, c.denied))
			t.Setenv("KUBECONFIG", home+"/none:"+path)
			for _, opts := range []*kubeconfig.Options{{Path: path}, {}} {
				_, err := kubeconfig.Load(opts)
				require.ErrorIs(t, err, fs.ErrPermission)
				require.EqualError(t, err, strings.ReplaceAll(c.want, "HOME", home))
			}
		})
	}
}

// If a Pod's service account cannot be read, Load must report this. It must not report that there is no server, and
// must not use another namespace.
func TestDeniedServiceAccount(t *testing.T) { nobody.Run(t, testDeniedServiceAccount) }

func testDeniedServiceAccount(t *testing.T) {
	home := onlyFile(t)
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	for denied, want := range map[string]string{
		"": "service account: namespace: open FOLDER/namespace", "token": "service account: tokenFile: open FOLDER/token",
		"ca.crt": "service account: certificate-authority: open FOLDER/ca.crt", "namespace": "service account: namespace: open FOLDER/namespace",
	} {
		t.Run(denied, func(t *testing.T) {
			folder := filepath.Join(home, "account of "+denied)
			write(t, folder+"/token", "t1")
			write(t, folder+"/ca.crt", certs.NewAuthority(t).PEM)
			write(t, folder+"/namespace", "shop")
			config, err := kubeconfig.Load(&kubeconfig.Options{ServiceAccount: folder})
			require.NoError(t, err)
			require.Equal(t, "shop", config.Namespace)
			deny(t, filepath.Join(folder, denied))
			_, err = kubeconfig.Load(&kubeconfig.Options{ServiceAccount: folder})
			require.ErrorIs(t, err, fs.ErrPermission)
			require.ErrorContains(t, err, strings.ReplaceAll(want, "FOLDER", folder)+": permission denied")
		})
	}
}
