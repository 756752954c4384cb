//go:build !js

package kubeconfig_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
	"github.com/stretchr/testify/require"
)

// alone keeps the environment of whoever runs the tests away. It returns the home folder.
func alone(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": "",
		"KUBERNETES_SERVICE_PORT": "", "POD_NAMESPACE": ""} {
		t.Setenv(name, value)
	}
	return home
}

// write makes a file, and the folders that it needs.
func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// file writes a kubeconfig with one context, whose cluster and user have some fields: "server: x; as: y", where a semicolon
// begins a line of the same indentation.
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

// load reads one file.
func load(t *testing.T, path string) *kubeconfig.Config {
	t.Helper()
	config, err := kubeconfig.Load(&kubeconfig.Options{Path: path})
	require.NoError(t, err)
	return config
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &authority{key: key, cert: template("authority", time.Now().Add(time.Hour))}
	a.cert.IsCA, a.cert.BasicConstraintsValid, a.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	require.NoError(t, err)
	a.pem = encode("CERTIFICATE", der)
	return a
}

func template(name string, until time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue makes a certificate and its key, both in PEM.
func (a *authority) issue(t *testing.T, name string, until time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template(name, until), a.cert, private.Public(), a.key)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8)
}

// config is a server's, for 127.0.0.1, which asks for client certificates.
func (a *authority) config(t *testing.T) *tls.Config {
	t.Helper()
	cert, key := a.issue(t, "api.test", time.Now().Add(time.Hour))
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.pem))
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
