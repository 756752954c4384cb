// Package certs issues certificates for tests.
package certs

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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

// NewAuthority returns an authority with a new key. Its certificate is valid from one hour ago until one hour from now.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{cert: &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	a.PEM, a.key = a.sign(t, a.cert)
	return a
}

// Issue returns a certificate and its private key, both in PEM, for a server or a client. `names` contains the host
// names and IP addresses in the certificate. The first name is also the common name. The certificate is valid from one
// hour ago until one hour from now.
func (a *Authority) Issue(t testing.TB, names ...string) (cert, key []byte) {
	t.Helper()
	return a.IssueBetween(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), names...)
}

// IssueBetween is like [Authority.Issue], but the certificate is valid only between the given times.
func (a *Authority) IssueBetween(t testing.TB, from, until time.Time, names ...string) (cert, key []byte) {
	t.Helper()
	leaf := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, NotBefore: from, NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, address)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	cert, private := a.sign(t, leaf)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
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

// sign returns the certificate in PEM, and its new key. The authority signs its own certificate with that key.
func (a *Authority) sign(t testing.TB, cert *x509.Certificate) (text []byte, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key.Public(), cmp.Or(a.key, key))
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key
}
