// Package certs issues certificates for tests.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority is a certificate authority for tests.
type Authority struct {
	PEM  []byte // certificate of the authority
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns an authority with a new key.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t), cert: template("authority")}
	a.cert.IsCA, a.cert.BasicConstraintsValid, a.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	a.PEM = a.sign(t, a.cert, a.key)
	return a
}

// Issue returns a certificate and its private key, both in PEM, for a server or a client. names contains its host
// names and IP addresses. The first name is also the common name.
func (a *Authority) Issue(t testing.TB, names ...string) (cert, key []byte) {
	t.Helper()
	return a.IssueBetween(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), names...)
}

// IssueBetween is like [Authority.Issue], but the certificate is valid only between the given times.
func (a *Authority) IssueBetween(t testing.TB, from, until time.Time, names ...string) (cert, key []byte) {
	t.Helper()
	leaf := template(names...)
	leaf.NotBefore, leaf.NotAfter = from, until
	private := newKey(t)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return a.sign(t, leaf, private), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// Config returns a server's TLS configuration with a certificate from [Authority.Issue].
func (a *Authority) Config(t testing.TB, names ...string) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair(a.Issue(t, names...))
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// Pool returns a pool that contains only this authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.PEM)
	return pool
}

func (a *Authority) sign(t testing.TB, cert *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key.Public(), a.key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// template returns an unsigned certificate that is valid from one hour ago until one hour from now.
func template(names ...string) *x509.Certificate {
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: names[0]},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			cert.IPAddresses = append(cert.IPAddresses, address)
		} else {
			cert.DNSNames = append(cert.DNSNames, name)
		}
	}
	return cert
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}
