//go:build !js

package ws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"testing"
	"time"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// TestHandshakesHaveTheTLSOfHTTP: the authority, and the client certificate, without which this server speaks to nobody.
func TestHandshakesHaveTheTLSOfHTTP(t *testing.T) {
	server := httptest.NewUnstartedServer(upgraded(say(1000, "one")))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refusals are wanted
	server.StartTLS()
	t.Cleanup(server.Close)

	certificate, key := selfSigned(t)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	follow := func(opts *lwhttp.Options) (string, error) {
		over, err := lwhttp.New(server.URL, opts)
		require.NoError(t, err)
		defer over.Close()
		return read(t, New(over, nil))
	}
	text, err := follow(&lwhttp.Options{CAData: authority, CertData: certificate, KeyData: key})
	require.NoError(t, err)
	require.Equal(t, "one", text)

	_, err = follow(&lwhttp.Options{CAData: authority})
	require.Error(t, err, "without a certificate")
	_, err = follow(&lwhttp.Options{CertData: certificate, KeyData: key})
	require.Error(t, err, "the system does not know the authority")
}

func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
