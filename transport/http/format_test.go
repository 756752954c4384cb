//go:build !js

package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// Every fmt verb must redact the secrets, even in a value that contains Options.
func TestOptionsAreLoggedWithoutSecrets(t *testing.T) {
	authority := certs.NewAuthority(t)
	cert, key := authority.Issue(t, "jane")
	credential := lwhttp.Credential{Token: "pa55word", CertData: []byte("pa55word"), KeyData: []byte("pa55word")}
	opts := lwhttp.Options{
		Token: "pa55word", CAFile: "ca.crt", CertData: cert, KeyData: key, Proxy: "http://jane:pa55word@127.0.0.1:1",
		Header: http.Header{"X-Key": {"pa55word"}}, ServerName: "api.test",
	}
	opts.CAFile, opts.CAData = "", authority.PEM
	transport, err := lwhttp.New("https://k8s.example", &opts)
	require.NoError(t, err)
	defer transport.Close()
	within := struct {
		Options lwhttp.Options
		Given   *lwhttp.Credential
	}{opts, &credential}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{opts, &opts, credential, &credential, within, &within, transport, []any{opts, credential}, map[string]any{"o": opts}} {
			text := fmt.Sprintf(verb, value)
			for _, secret := range []string{"pa55word", fmt.Sprintf("%x", "pa55word"), fmt.Sprintf("%d", []byte("pa55word"))[1:20], "PRIVATE", fmt.Sprintf("%x", "PRIVATE")} {
				require.NotContains(t, text, secret, verb)
			}
		}
	}
	require.Equal(t, "http.Options{…}", fmt.Sprintf("%+v", opts))
	require.Equal(t, "http.Transport{https://k8s.example:443}", fmt.Sprint(transport))
	text, err := json.Marshal(within.Given)
	require.NoError(t, err)
	require.NotContains(t, string(text), "pa55word")

	opts.CredentialFunc = func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) { return nil, nil }
	require.NotPanics(t, func() { _ = fmt.Sprint(opts, (*lwhttp.Options)(nil)) })
}
