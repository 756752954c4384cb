//go:build !js

package http_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// serve starts a server: over TLS and with HTTP/2, or in plain HTTP/1.1 if config is nil.
func serve(t *testing.T, config *tls.Config, handler http.HandlerFunc, setUp ...func(*http.Server)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	for _, f := range setUp {
		f(server.Config)
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are what some tests want
	if config == nil {
		server.Start()
	} else {
		server.EnableHTTP2 = true
		server.TLS = config
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	return server
}

// connect makes a transport to a server. Without options of its own it trusts the certificate of [serve].
func connect(t *testing.T, server *httptest.Server, opts *lwhttp.Options) *lwhttp.Transport {
	t.Helper()
	if opts == nil {
		opts = trust(server)
	}
	transport, err := lwhttp.New(server.URL, opts)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	return transport
}

// trust returns options with the server's own certificate as the authority, if it has one.
func trust(server *httptest.Server) *lwhttp.Options {
	opts := &lwhttp.Options{}
	if server.Certificate() != nil {
		opts.CAData = encode("CERTIFICATE", server.Certificate().Raw)
	}
	return opts
}

// bothProtocols runs a test over HTTP/1.1 and over HTTP/2.
func bothProtocols(t *testing.T, handler http.HandlerFunc, test func(*testing.T, *httptest.Server, *lwhttp.Transport)) {
	for name, config := range map[string]*tls.Config{"HTTP/1.1": nil, "HTTP/2.0": {}} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			server := serve(t, config, func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != name {
					t.Errorf("the request came over %s", r.Proto)
				}
				handler(w, r)
			})
			test(t, server, connect(t, server, nil))
		})
	}
}

// pods is a request for a test that does not care what it asks for.
var pods = &lw.Request{Path: "/api/v1/pods"}

// requestFor is one with a query.
func requestFor(path, query string) *lw.Request { return &lw.Request{Path: path, Query: query} }

// get reads a whole response.
func get(t *testing.T, transport *lwhttp.Transport, request *lw.Request) (string, error) {
	t.Helper()
	body, err := transport.Open(t.Context(), request)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), err
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &authority{key: key, cert: template("authority")}
	a.cert.IsCA, a.cert.BasicConstraintsValid, a.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	require.NoError(t, err)
	a.pem = encode("CERTIFICATE", der)
	return a
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue makes a certificate for a name, and for addresses, and its key, both in PEM.
func (a *authority) issue(t *testing.T, name string, addresses ...net.IP) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	leaf := template(name)
	leaf.IPAddresses = addresses
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, private.Public(), a.key)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8)
}

// config is a server's, with a certificate for a name and addresses.
func (a *authority) config(t *testing.T, name string, addresses ...net.IP) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair(a.issue(t, name, addresses...))
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.pem)
	return pool
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// write puts text into a file of a directory and returns its path.
func write(t *testing.T, directory, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(directory, name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// loopback is the address that servers of this package listen on.
var loopback = net.IPv4(127, 0, 0, 1)

// roundTripper is a network of one function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
