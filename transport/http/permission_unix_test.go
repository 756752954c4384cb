//go:build unix && !js

package http_test

import (
	"io/fs"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/nobody"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

func TestDeniedFiles(t *testing.T) { nobody.Run(t, testDeniedFiles) }

func testDeniedFiles(t *testing.T) {
	folder, authority := t.TempDir(), certs.NewAuthority(t)
	cert, key := authority.Issue(t, "jane")
	files := map[string][]byte{"token": []byte("first"), "ca": authority.PEM, "cert": cert, "key": key}
	for denied, purpose := range map[string]string{"token": "token file", "ca": "certificate authority file", "cert": "client certificate file", "key": "client key file"} {
		for name, text := range files {
			write(t, folder, name, text)
		}
		opts := &lwhttp.Options{TokenFile: folder + "/token", CAFile: folder + "/ca", CertFile: folder + "/cert", KeyFile: folder + "/key"}
		transport, err := lwhttp.New("https://k8s.example", opts)
		require.NoError(t, err)
		before := transport.Current(nil)
		require.NoError(t, os.Chmod(folder+"/"+denied, 0))
		require.Same(t, before, transport.Current(before), "files that can no longer be read must not replace the certificates in use")
		transport.Close()
		_, err = lwhttp.New("https://k8s.example", opts)
		require.ErrorIs(t, err, fs.ErrPermission)
		require.EqualError(t, err, "http: "+purpose+": open "+folder+"/"+denied+": permission denied")
		require.NoError(t, os.Chmod(folder+"/"+denied, 0o600))
	}
}

// While the token file cannot be read, requests must continue to use the last token.
func TestDeniedTokenFileKeepsToken(t *testing.T) {
	nobody.Run(t, func(t *testing.T) {
		path := write(t, t.TempDir(), "token", []byte("first"))
		synctest.Test(t, func(t *testing.T) {
			transport, sent := authorized(t, &lwhttp.Options{TokenFile: path})
			write(t, "", path, []byte("second"))
			for _, mode := range []os.FileMode{0, 0o600} {
				require.NoError(t, os.Chmod(path, mode))
				time.Sleep(time.Minute)
				_, err := get(t, transport, pods)
				require.NoError(t, err)
			}
			require.Equal(t, []string{"Bearer first", "Bearer second"}, *sent)
		})
	})
}
