//go:build !js

package ws

import (
	"crypto/tls"
	"io"
	"log"
	"net/http/httptest"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The server requires a client certificate, so the handshake must send it.
func TestHandshakesUseTLSOptions(t *testing.T) {
	server := httptest.NewUnstartedServer(upgraded(say(1000, "one")))
	authority := certs.NewAuthority(t)
	server.TLS = authority.Config(t, "127.0.0.1")
	server.TLS.ClientAuth = tls.RequireAnyClientCert
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the test expects a failed handshake, so its log is discarded
	server.StartTLS()
	t.Cleanup(server.Close)

	certificate, key := authority.Issue(t, "jane")
	follow := func(opts *lwhttp.Options) (string, error) {
		base, err := lwhttp.New(server.URL, opts)
		require.NoError(t, err)
		defer base.Close()
		return read(t, New(base).(*transport))
	}
	text, err := follow(&lwhttp.Options{CAData: authority.PEM, CertData: certificate, KeyData: key})
	require.NoError(t, err)
	require.Equal(t, "one", text)

	_, err = follow(&lwhttp.Options{CAData: authority.PEM})
	require.Error(t, err, "a handshake without a certificate must fail")
	_, err = follow(&lwhttp.Options{CertData: certificate, KeyData: key})
	require.Error(t, err, "a server with an unknown certificate authority must be rejected")
}
