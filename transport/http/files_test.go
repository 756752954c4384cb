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

// TestFilesAreReadOncePerMinute, or at once when a request failed with what they hold.
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
		require.Same(t, second, transport.Current(nil), "another minute begins")
		require.Same(t, second, transport.Current(first), "another request failed with the old ones: these were not tried yet")
		third := transport.Current(second)
		require.NotSame(t, second, third)
		time.Sleep(time.Hour)
		require.Same(t, third, transport.Current(nil), "the content is the same")
		require.Same(t, third, transport.Current(third), "the content is the same")
	})
}

// TestFilesWithCallerClient are not this package's business.
func TestFilesWithCallerClient(t *testing.T) {
	transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{Client: &http.Client{}})
	require.NoError(t, err)
	theirs := transport.Current(nil)
	require.Same(t, theirs, transport.Current(theirs))
}

// TestInvalidFiles change nothing until they are good again.
func TestInvalidFiles(t *testing.T) {
	authority, directory := certs.NewAuthority(t), t.TempDir()
	cert, key := authority.Issue(t, "jane")
	newCert, newKey := authority.Issue(t, "joe")
	bundle := slices.Concat(authority.PEM, certs.NewAuthority(t).PEM)
	for name, files := range map[string]map[string]string{
		"authority empty":                   {"ca": ""},
		"authority no PEM":                  {"ca": "pa55word"},
		"authority missing":                 {"ca": "-"},
		"authority cut in its second block": {"ca": string(bundle[:len(bundle)-30])},
		"authority cut in its last line":    {"ca": string(bundle[:len(bundle)-2])},
		"certificate empty":                 {"cert": ""},
		"certificate missing":               {"cert": "-"},
		"certificate cut":                   {"cert": string(newCert[:len(newCert)/2]), "key": string(newKey)},
		"certificate new, key old":          {"cert": string(newCert)},
		"certificate old, key new":          {"key": string(newKey)},
		"certificate new, key missing":      {"cert": string(newCert), "key": "-"},
		"certificate's chain cut":           {"cert": string(newCert) + string(cert[:len(cert)/2]), "key": string(newKey)},
		"authority new, certificate broken": {"ca": string(bundle), "cert": ""},
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
