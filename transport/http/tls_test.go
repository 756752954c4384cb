//go:build !js

package http_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

func TestServerIsVerified(t *testing.T) {
	ours, other := certs.NewAuthority(t), certs.NewAuthority(t)
	directory := t.TempDir()
	hello := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }
	byAddress := serve(t, ours.Config(t, "api.test", loopback), hello)
	byName := serve(t, ours.Config(t, "api.test"), hello)
	old := ours.Config(t, "api.test", loopback)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	outdated := serve(t, old, hello)

	cases := map[string]struct {
		url  string
		opts lwhttp.Options
		err  string
	}{
		"CA file":                          {byAddress.URL, lwhttp.Options{CAFile: write(t, directory, "ca", ours.PEM)}, ""},
		"CA data":                          {byAddress.URL, lwhttp.Options{CAData: ours.PEM}, ""},
		"CA data overrides CA file":        {byAddress.URL, lwhttp.Options{CAData: ours.PEM, CAFile: "nowhere"}, ""},
		"several certificate authorities":  {byAddress.URL, lwhttp.Options{CAData: append(append([]byte(nil), other.PEM...), ours.PEM...)}, ""},
		"unknown certificate authority":    {byAddress.URL, lwhttp.Options{CAData: other.PEM}, "certificate"},
		"system roots":                     {byAddress.URL, lwhttp.Options{}, "certificate"},
		"certificate for a different name": {byName.URL, lwhttp.Options{CAData: ours.PEM}, "127.0.0.1"},
		"matching ServerName":              {byName.URL, lwhttp.Options{CAData: ours.PEM, ServerName: "api.test"}, ""},
		"wrong ServerName":                 {byAddress.URL, lwhttp.Options{CAData: ours.PEM, ServerName: "other.test"}, "other.test"},
		"no verification":                  {byName.URL, lwhttp.Options{InsecureSkipVerify: true}, ""},
		"TLS 1.1":                          {outdated.URL, lwhttp.Options{CAData: ours.PEM}, "version"},
		"TLS 1.1 without verification":     {outdated.URL, lwhttp.Options{InsecureSkipVerify: true}, "version"},
		"TLS to a plain HTTP port":         {"https" + serve(t, nil, hello).URL[len("http"):], lwhttp.Options{CAData: ours.PEM}, "HTTP"},
		"plain HTTP to a TLS port":         {"http" + byAddress.URL[len("https"):], lwhttp.Options{}, "400"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			transport, err := lwhttp.New(c.url, &c.opts)
			require.NoError(t, err)
			defer transport.Close()
			proto, err := get(t, transport, pods)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "HTTP/2.0", proto)
		})
	}
}

// serveByCertificate starts a server and returns its URL. The server requires a client certificate from the authority,
// and responds with the name in that certificate.
func serveByCertificate(t *testing.T, a *certs.Authority) string {
	config := a.Config(t, "api.test", loopback)
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, a.Pool()
	return serve(t, config, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}).URL
}

func TestClientCertificate(t *testing.T) {
	ours, other, directory := certs.NewAuthority(t), certs.NewAuthority(t), t.TempDir()
	url := serveByCertificate(t, ours)
	cert, key := ours.Issue(t, "jane")
	certFile, keyFile := write(t, directory, "cert", cert), write(t, directory, "key", key)
	foreign, foreignKey := other.Issue(t, "eve")

	for name, opts := range map[string]*lwhttp.Options{
		"files": {CertFile: certFile, KeyFile: keyFile},
		"data":  {CertData: cert, KeyData: key},
	} {
		t.Run(name, func(t *testing.T) {
			opts.CAData = ours.PEM
			transport, err := lwhttp.New(url, opts)
			require.NoError(t, err)
			defer transport.Close()
			user, err := get(t, transport, pods)
			require.NoError(t, err)
			require.Equal(t, "jane", user)
		})
	}
	for name, opts := range map[string]*lwhttp.Options{
		"no certificate":                      {},
		"certificate of an unknown authority": {CertData: foreign, KeyData: foreignKey},
	} {
		t.Run(name, func(t *testing.T) {
			opts.CAData = ours.PEM
			transport, err := lwhttp.New(url, opts)
			require.NoError(t, err)
			defer transport.Close()
			_, err = get(t, transport, pods)
			require.Error(t, err) // a TLS error, or an HTTP/2 error if the server rejects the certificate after the handshake
		})
	}
}

func TestHTTP2CanBeDisabled(t *testing.T) {
	server := serve(t, certs.NewAuthority(t).Config(t, loopback), func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	for _, disabled := range []bool{false, true} {
		opts := &lwhttp.Options{InsecureSkipVerify: true, DisableHTTP2: disabled}
		proto, err := get(t, connect(t, server, opts), pods)
		require.NoError(t, err)
		require.Equal(t, map[bool]string{false: "HTTP/2.0", true: "HTTP/1.1"}[disabled], proto)
	}
}
