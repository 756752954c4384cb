//go:build !js

package http_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The errors for invalid options must not contain secrets.
func TestBadOptions(t *testing.T) {
	directory := t.TempDir()
	authority := certs.NewAuthority(t)
	cert, key := authority.Issue(t, "jane")
	_, otherKey := authority.Issue(t, "joe")
	empty := write(t, directory, "empty", nil)
	certFile, otherKeyFile := write(t, directory, "cert", cert), write(t, directory, "key", otherKey)
	token := func(context.Context) (string, error) { return "pa55word", nil }
	credential := func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) { return nil, nil }
	client := &http.Client{}
	const server = "https://k8s.example:6443"

	cases := map[string]struct {
		server string
		opts   lwhttp.Options
		err    string
	}{
		"empty URL":                                     {"", lwhttp.Options{}, "must look like"},
		"URL without a scheme":                          {"k8s.example", lwhttp.Options{}, "must look like"},
		"URL with a port but no scheme":                 {"localhost:6443", lwhttp.Options{}, "must look like"},
		"URL with an unsupported scheme":                {"wss://k8s.example", lwhttp.Options{}, "must look like"},
		"URL without a host":                            {"https:///api", lwhttp.Options{}, "must look like"},
		"URL with a port but no host":                   {"https://:6443", lwhttp.Options{}, "must look like"},
		"invalid URL":                                   {"https://k8s.example:pa55word", lwhttp.Options{}, "the server's URL is invalid"},
		"URL with a password":                           {"https://jane:pa55word@k8s.example", lwhttp.Options{}, "must not have a user"},
		"URL with a password but no scheme":             {"jane:pa55word@k8s.example", lwhttp.Options{}, "must look like"},
		"URL with a password and an unsupported scheme": {"ftp://jane:pa55word@k8s.example", lwhttp.Options{}, "must look like"},
		"URL with a query":                              {server + "/?token=pa55word", lwhttp.Options{}, "must not have a user, a query"},
		"URL with an empty query":                       {server + "/?", lwhttp.Options{}, "must not have a user, a query"},
		"URL with a fragment":                           {server + "/#pa55word", lwhttp.Options{}, "must not have a user, a query or a fragment"},

		"URL with a port that is too large": {"https://k8s.example:99999", lwhttp.Options{}, "has a port above 65535"},
		"token and Authorization header":    {server, lwhttp.Options{Token: "pa55word", Header: map[string][]string{"Authorization": {"x"}}}, "Header must not contain Authorization"},
		"line break in a token":             {server, lwhttp.Options{Token: "pa55word\nand more"}, "contains an invalid character"},
		"Token and TokenFile":               {server, lwhttp.Options{Token: "pa55word", TokenFile: certFile}, "only one of"},
		"TokenFunc and TokenFile":           {server, lwhttp.Options{TokenFunc: token, TokenFile: certFile}, "only one of"},
		"Token, TokenFunc and TokenFile":    {server, lwhttp.Options{Token: "pa55word", TokenFunc: token, TokenFile: certFile}, "only one of"},
		"token and CredentialFunc":          {server, lwhttp.Options{Token: "pa55word", CredentialFunc: credential}, "CredentialFunc cannot be combined"},
		"certificate and CredentialFunc":    {server, lwhttp.Options{CertData: cert, KeyData: key, CredentialFunc: credential}, "CredentialFunc cannot be combined"},
		"proxy with an unsupported scheme":  {server, lwhttp.Options{Proxy: "ftp://jane:pa55word@127.0.0.1:1"}, "the proxy's URL must look like"},
		"proxy without a scheme":            {server, lwhttp.Options{Proxy: "127.0.0.1:1"}, "the proxy's URL must look like"},
		"proxy without a host":              {server, lwhttp.Options{Proxy: "http:///"}, "the proxy's URL must look like"},
		"invalid proxy URL":                 {server, lwhttp.Options{Proxy: "http://jane:pa55word@[::1"}, "the proxy's URL must look like"},

		"missing token file": {server, lwhttp.Options{TokenFile: directory + "/none"}, "http: token file: open "},
		"empty token file":   {server, lwhttp.Options{TokenFile: empty}, "is empty"},
		"missing CA file":    {server, lwhttp.Options{CAFile: directory + "/none"}, "http: certificate authority file: open "},
		"empty CA file":      {server, lwhttp.Options{CAFile: empty}, "contains no PEM certificate"},
		"invalid CA data":    {server, lwhttp.Options{CAData: []byte("pa55word")}, "contains no PEM certificate"},

		"certificate file without a key":  {server, lwhttp.Options{CertFile: certFile}, "must be set together"},
		"certificate data without a key":  {server, lwhttp.Options{CertData: cert}, "must be set together"},
		"key file without a certificate":  {server, lwhttp.Options{KeyFile: otherKeyFile}, "must be set together"},
		"key data without a certificate":  {server, lwhttp.Options{KeyData: key}, "must be set together"},
		"key of another certificate":      {server, lwhttp.Options{CertData: cert, KeyData: otherKey}, "http: the client certificate: tls: private key does not match public key"},
		"key file of another certificate": {server, lwhttp.Options{CertFile: certFile, KeyFile: otherKeyFile}, "http: the client certificate: tls: private key does not match public key"},
		"certificate file and key data":   {server, lwhttp.Options{CertFile: certFile, KeyData: key}, "both as files or both as data"},
		"missing certificate file":        {server, lwhttp.Options{CertFile: directory + "/none", KeyFile: otherKeyFile}, "http: client certificate file: open "},

		"Client and CAFile":             {server, lwhttp.Options{Client: client, CAFile: certFile}, "if Client is set, configure TLS"},
		"Client and CAData":             {server, lwhttp.Options{Client: client, CAData: cert}, "if Client is set, configure TLS"},
		"Client and CertData":           {server, lwhttp.Options{Client: client, CertData: cert, KeyData: key}, "if Client is set, configure TLS"},
		"Client and ServerName":         {server, lwhttp.Options{Client: client, ServerName: "x"}, "if Client is set, configure TLS"},
		"Client and InsecureSkipVerify": {server, lwhttp.Options{Client: client, InsecureSkipVerify: true}, "if Client is set, configure TLS"},
		"Client and DisableCompression": {server, lwhttp.Options{Client: client, DisableCompression: true}, "if Client is set, configure TLS"},
		"Client and DisableHTTP2":       {server, lwhttp.Options{Client: client, DisableHTTP2: true}, "if Client is set, configure TLS"},
		"Client and Proxy":              {server, lwhttp.Options{Client: client, Proxy: "http://127.0.0.1:1"}, "if Client is set, configure TLS"},
		"Client with a timeout":         {server, lwhttp.Options{Client: &http.Client{Timeout: time.Hour}}, "would end every watch"},
	}
	for name, c := range cases {
		_, err := lwhttp.New(c.server, &c.opts)
		require.ErrorContains(t, err, c.err, name)
		require.NotContains(t, err.Error(), "pa55word", name)
		require.NotContains(t, err.Error(), "PRIVATE KEY", name)
	}
}

func TestRequestErrorsShowNoToken(t *testing.T) {
	token := func(context.Context) (string, error) { return "pa55word\nof two lines", nil }
	transport, err := lwhttp.New("http://127.0.0.1:1", &lwhttp.Options{TokenFunc: token, Header: http.Header{"X-Key": {"pa55word"}}})
	require.NoError(t, err)
	defer transport.Close()
	_, err = get(t, transport, pods)
	require.ErrorContains(t, err, "Authorization")
	require.NotContains(t, err.Error(), "pa55word")
}

// A request must not send invalid headers. Its error must not contain the value of a header.
func TestInvalidHeaders(t *testing.T) {
	for name, value := range map[string]string{"X-A": "pa55word\r\nX-B: c", "X A": "pa55word", "User-Agent": "pa55word\nb: c"} {
		transport, err := lwhttp.New("http://127.0.0.1:1", &lwhttp.Options{Header: map[string][]string{name: {"b", value}}})
		require.NoError(t, err)
		_, err = get(t, transport, pods)
		require.ErrorContains(t, err, "invalid header field")
		require.NotContains(t, err.Error(), "pa55word")
	}
}

// New must copy the headers and must not modify the client.
func TestOptionsAreCopied(t *testing.T) {
	var seen http.Header
	network := roundTripper(func(r *http.Request) (*http.Response, error) {
		seen = r.Header
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	opts := &lwhttp.Options{Header: http.Header{"X-Key": {"before"}}, Client: &http.Client{Transport: network}}
	transport, err := lwhttp.New("https://k8s.example", opts)
	require.NoError(t, err)
	opts.Header["X-Key"] = []string{"after"}
	_, err = get(t, transport, pods)
	require.NoError(t, err)
	require.Equal(t, "before", seen.Get("X-Key"))
	require.IsType(t, network, opts.Client.Transport)
}
