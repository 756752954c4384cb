//go:build !js

package http_test

import (
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

func TestFilesAreReadOncePerMinute(t *testing.T) {
	directory := t.TempDir()
	rotate := func() { write(t, directory, "ca", certs.NewAuthority(t).PEM) }
	rotate()
	synctest.Test(t, func(t *testing.T) {
		transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{CAFile: directory + "/ca"})
		require.NoError(t, err)
		first := transport.Current(nil)
		rotate()
		time.Sleep(time.Minute - time.Nanosecond)
		require.Same(t, first, transport.Current(nil))
		time.Sleep(time.Nanosecond)
		second := transport.Current(nil)
		require.NotSame(t, first, second)

		rotate()
		require.Same(t, second, transport.Current(nil), "each read must restart the one-minute interval")
		require.Same(t, second, transport.Current(first), "after a failure with old round trippers, Current must return the current round trippers")
		third := transport.Current(second)
		require.NotSame(t, second, third)
		time.Sleep(time.Hour)
		require.Same(t, third, transport.Current(nil), "round trippers must not change while the files are unchanged")
		require.Same(t, third, transport.Current(third), "round trippers must not change while the files are unchanged")
	})
}

func TestFilesWithCallerClient(t *testing.T) {
	transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{Client: &http.Client{}})
	require.NoError(t, err)
	current := transport.Current(nil)
	require.Same(t, current, transport.Current(current))
}

func TestInvalidFiles(t *testing.T) {
	authority, directory := certs.NewAuthority(t), t.TempDir()
	cert, key := authority.Issue(t, "jane")
	newCert, newKey := authority.Issue(t, "joe")
	bundle := slices.Concat(authority.PEM, certs.NewAuthority(t).PEM)
	for name, files := range map[string]map[string]string{
		"empty CA file":                         {"ca": ""},
		"CA file without a PEM block":           {"ca": "pa55word"},
		"missing CA file":                       {"ca": "-"},
		"CA file with a truncated second block": {"ca": string(bundle[:len(bundle)-30])},
		"CA file with a truncated last line":    {"ca": string(bundle[:len(bundle)-2])},
		"empty certificate":                     {"cert": ""},
		"missing certificate":                   {"cert": "-"},
		"truncated certificate":                 {"cert": string(newCert[:len(newCert)/2]), "key": string(newKey)},
		"new certificate, old key":              {"cert": string(newCert)},
		"old certificate, new key":              {"key": string(newKey)},
		"new certificate, missing key":          {"cert": string(newCert), "key": "-"},
		"truncated certificate chain":           {"cert": string(newCert) + string(cert[:len(cert)/2]), "key": string(newKey)},
		"new CA file, empty certificate":        {"ca": string(bundle), "cert": ""},
	} {
		t.Run(name, func(t *testing.T) {
			good := map[string]string{"ca": string(authority.PEM), "cert": string(cert), "key": string(key)}
			put := func(files map[string]string) {
				for name, text := range files {
					if text == "-" {
						require.NoError(t, os.Remove(directory+"/"+name))
					} else {
						write(t, directory, name, []byte(text))
					}
				}
			}
			put(good)
			transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{
				CAFile: directory + "/ca", CertFile: directory + "/cert", KeyFile: directory + "/key",
			})
			require.NoError(t, err)
			old := transport.Current(nil)
			put(files)
			require.Same(t, old, transport.Current(old))
			put(good)
			require.Same(t, old, transport.Current(old))
			put(map[string]string{"ca": string(bundle), "cert": string(newCert), "key": string(newKey)})
			require.NotSame(t, old, transport.Current(old))
		})
	}
}
