//go:build !js

package http_test

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/wire"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The proxy must not receive the client certificate. The client must verify the proxy's certificate with the proxy's
// host name. The test starts the client as another process, because net/http reads the environment only once.
func TestProxyOverTLS(t *testing.T) {
	if directory := os.Getenv("LISTWATCH_PROXY_TEST"); directory != "" {
		askThroughProxy(t, directory)
		return
	}
	ours, directory := certs.NewAuthority(t), t.TempDir()
	write(t, directory, "ca", ours.PEM)
	cert, key := ours.Issue(t, "jane")
	write(t, directory, "cert", cert)
	write(t, directory, "key", key)
	behind := serveByCertificate(t, ours)[len("https://"):]

	var tunnels atomic.Int32
	config := ours.Config(t, "proxy.test", loopback) // the proxy's certificate, which is not valid for api.test
	config.ClientAuth = tls.RequestClientCert
	config.NextProtos = []string{"h2", "http/1.1"} // the proxy would select h2 if the client offered it
	tunnel := wire.Proxy(func(string, string) (net.Conn, error) { return net.Dial("tcp", behind) })
	proxy := serve(t, config, func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 || r.Method != http.MethodConnect || r.Host != "k8s.example:6443" {
			t.Errorf("unexpected proxy request: %s %s over %s with %d certificates", r.Method, r.Host, r.Proto, len(r.TLS.PeerCertificates))
		}
		tunnels.Add(1)
		tunnel.ServeHTTP(w, r)
	})

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyOverTLS$", "-test.v")
	cmd.Env = append(os.Environ(), "LISTWATCH_PROXY_TEST="+directory, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", "https_proxy=")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.True(t, bytes.Contains(output, []byte("--- PASS: TestProxyOverTLS")), "%s", output)
	require.Equal(t, int32(1), tunnels.Load())
}

func askThroughProxy(t *testing.T, directory string) {
	transport, err := lwhttp.New("https://k8s.example:6443", &lwhttp.Options{
		CAFile: directory + "/ca", CertFile: directory + "/cert", KeyFile: directory + "/key", ServerName: "api.test",
	})
	require.NoError(t, err)
	defer transport.Close()
	user, err := get(t, transport, pods)
	require.NoError(t, err)
	require.Equal(t, "jane", user, "the server must receive the certificate")
}

// The server is reachable only through the proxy, which must not receive the client certificate or the token.
func TestProxyOption(t *testing.T) {
	ours := certs.NewAuthority(t)
	cert, key := ours.Issue(t, "jane")
	behind := serveByCertificate(t, ours)[len("https://"):]
	proxy := wire.Proxy(func(address, user string) (net.Conn, error) {
		if address != "k8s.example:6443" || user != "joe:p" {
			t.Errorf("proxy user %q requested %s", user, address)
		}
		return net.Dial("tcp", behind)
	})
	secure := ours.Config(t, "proxy.test", loopback)
	secure.ClientAuth, secure.NextProtos = tls.RequestClientCert, []string{"h2", "http/1.1"}
	connect := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			t.Error("the proxy received the server's credentials")
		}
		proxy.ServeHTTP(w, r)
	}
	socks, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = socks.Close() })
	go proxy.ServeSocks(socks)
	for name, url := range map[string]string{
		"http":   "http://joe:p@" + serve(t, nil, connect).URL[len("http://"):],
		"https":  "https://joe:p@" + serve(t, secure, connect).URL[len("https://"):],
		"socks5": "socks5://joe:p@" + socks.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			transport, err := lwhttp.New("https://k8s.example:6443", &lwhttp.Options{
				CAData: ours.PEM, CertData: cert, KeyData: key, ServerName: "api.test", Token: "t1", Proxy: url,
			})
			require.NoError(t, err)
			defer transport.Close()
			user, err := get(t, transport, pods)
			require.NoError(t, err)
			require.Equal(t, "jane", user)
		})
	}
}
