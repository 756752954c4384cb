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

// TestBadOptions are found by New, and no error shows a secret.
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
		"no URL":                      {"", lwhttp.Options{}, "must look like"},
		"no scheme":                   {"k8s.example", lwhttp.Options{}, "must look like"},
		"a port in place of a scheme": {"localhost:6443", lwhttp.Options{}, "must look like"},
		"another scheme":              {"wss://k8s.example", lwhttp.Options{}, "must look like"},
		"no host":                     {"https:///api", lwhttp.Options{}, "must look like"},
		"a port alone":                {"https://:6443", lwhttp.Options{}, "must look like"},
		"no URL at all":               {"https://k8s.example:pa55word", lwhttp.Options{}, "does not parse"},
		"a password":                  {"https://jane:pa55word@k8s.example", lwhttp.Options{}, "must not have a user"},
		"a password, no scheme":       {"jane:pa55word@k8s.example", lwhttp.Options{}, "must look like"},
		"a password, another scheme":  {"ftp://jane:pa55word@k8s.example", lwhttp.Options{}, "must look like"},
		"a query":                     {server + "/?token=pa55word", lwhttp.Options{}, "must not have a user, a query"},
		"an empty query":              {server + "/?", lwhttp.Options{}, "must not have a user, a query"},
		"a fragment":                  {server + "/#pa55word", lwhttp.Options{}, "must not have a user, a query or a fragment"},

		"a port that is too large":   {"https://k8s.example:99999", lwhttp.Options{}, "has a port above 65535"},
		"a header of two lines":      {server, lwhttp.Options{Header: map[string][]string{"X-A": {"b", "pa55word\r\nX-B: c"}}}, "the value of the header X-A contains an invalid character"},
		"a header's name of two":     {server, lwhttp.Options{Header: map[string][]string{"X A": {"pa55word"}}}, `the invalid name "X A"`},
		"a name of two lines":        {server, lwhttp.Options{UserAgent: "a\nb: c"}, "UserAgent contains"},
		"two authorizations":         {server, lwhttp.Options{Token: "pa55word", Header: map[string][]string{"Authorization": {"x"}}}, "Header must not have Authorization"},
		"a token of two lines":       {server, lwhttp.Options{Token: "pa55word\nand more"}, "no header may have"},
		"two tokens":                 {server, lwhttp.Options{Token: "pa55word", TokenFile: certFile}, "only one of"},
		"two other tokens":           {server, lwhttp.Options{TokenFunc: token, TokenFile: certFile}, "only one of"},
		"three tokens":               {server, lwhttp.Options{Token: "pa55word", TokenFunc: token, TokenFile: certFile}, "only one of"},
		"two sources of credentials": {server, lwhttp.Options{Token: "pa55word", CredentialFunc: credential}, "CredentialFunc cannot be combined"},
		"a source and a certificate": {server, lwhttp.Options{CertData: cert, KeyData: key, CredentialFunc: credential}, "CredentialFunc cannot be combined"},
		"a proxy of another scheme":  {server, lwhttp.Options{Proxy: "ftp://jane:pa55word@127.0.0.1:1"}, "the proxy's URL must look like"},
		"a proxy without a scheme":   {server, lwhttp.Options{Proxy: "127.0.0.1:1"}, "the proxy's URL must look like"},
		"a proxy without a host":     {server, lwhttp.Options{Proxy: "http:///"}, "the proxy's URL must look like"},
		"no proxy's URL at all":      {server, lwhttp.Options{Proxy: "http://jane:pa55word@[::1"}, "the proxy's URL must look like"},

		"no token's file":          {server, lwhttp.Options{TokenFile: directory + "/none"}, "http: token file: open "},
		"an empty token's file":    {server, lwhttp.Options{TokenFile: empty}, "is empty"},
		"no authority's file":      {server, lwhttp.Options{CAFile: directory + "/none"}, "http: certificate authority file: open "},
		"an empty authority's":     {server, lwhttp.Options{CAFile: empty}, "holds no certificate"},
		"an authority that is not": {server, lwhttp.Options{CAData: []byte("pa55word")}, "holds no certificate"},

		"a certificate without key":      {server, lwhttp.Options{CertFile: certFile}, "must be set together"},
		"certificate data without key":   {server, lwhttp.Options{CertData: cert}, "must be set together"},
		"a key alone":                    {server, lwhttp.Options{KeyFile: otherKeyFile}, "must be set together"},
		"key data alone":                 {server, lwhttp.Options{KeyData: key}, "must be set together"},
		"another one's key":              {server, lwhttp.Options{CertData: cert, KeyData: otherKey}, "http: the client certificate: tls: private key does not match public key"},
		"another one's key's file":       {server, lwhttp.Options{CertFile: certFile, KeyFile: otherKeyFile}, "http: the client certificate: tls: private key does not match public key"},
		"a certificate's file, key data": {server, lwhttp.Options{CertFile: certFile, KeyData: key}, "both as files or both as data"},
		"no certificate's file":          {server, lwhttp.Options{CertFile: directory + "/none", KeyFile: otherKeyFile}, "http: client certificate file: open "},

		"a client and an authority":   {server, lwhttp.Options{Client: client, CAFile: certFile}, "configured in its transport"},
		"a client and data":           {server, lwhttp.Options{Client: client, CAData: cert}, "configured in its transport"},
		"a client and a certificate":  {server, lwhttp.Options{Client: client, CertData: cert, KeyData: key}, "configured in its transport"},
		"a client and a name":         {server, lwhttp.Options{Client: client, ServerName: "x"}, "configured in its transport"},
		"a client, unverified":        {server, lwhttp.Options{Client: client, InsecureSkipVerify: true}, "configured in its transport"},
		"a client and no compression": {server, lwhttp.Options{Client: client, DisableCompression: true}, "configured in its transport"},
		"a client and a proxy":        {server, lwhttp.Options{Client: client, Proxy: "http://127.0.0.1:1"}, "configured in its transport"},
		"a client with a timeout":     {server, lwhttp.Options{Client: &http.Client{Timeout: time.Hour}}, "would end every watch"},
	}
	for name, c := range cases {
		_, err := lwhttp.New(c.server, &c.opts)
		require.ErrorContains(t, err, c.err, name)
		require.NotContains(t, err.Error(), "pa55word", name)
		require.NotContains(t, err.Error(), "PRIVATE KEY", name)
	}
}

// TestErrorsOfRequestsShowNoToken, not even one that cannot be a header's value.
func TestErrorsOfRequestsShowNoToken(t *testing.T) {
	token := func(context.Context) (string, error) { return "pa55word\nof two lines", nil }
	transport, err := lwhttp.New("http://127.0.0.1:1", &lwhttp.Options{TokenFunc: token, Header: http.Header{"X-Key": {"pa55word"}}})
	require.NoError(t, err)
	defer transport.Close()
	_, err = get(t, transport, pods)
	require.ErrorContains(t, err, "Authorization")
	require.NotContains(t, err.Error(), "pa55word")
}

// TestOptionsAreCopied: what the caller does to its headers later does not matter, and its client stays as it was.
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
