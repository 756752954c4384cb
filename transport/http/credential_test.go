//go:build !js

package http_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// After CredentialFunc returns a different certificate, requests need a new connection. Open responses must continue
// over the old connection.
func TestCredentialFuncReplacesCertificate(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		first, second := credential(t, ours, "first", "t1"), credential(t, ours, "second", "t1")
		var asked, rejections atomic.Int32
		transport := connect(t, s.Server, &lwhttp.Options{CAFile: s.directory + "/ca",
			CredentialFunc: func(_ context.Context, rejected *lwhttp.Credential) (*lwhttp.Credential, error) {
				asked.Add(1)
				if rejected == nil && rejections.Load() == 0 {
					return first, nil
				}
				if rejected != nil {
					rejections.Add(1)
					require.Same(t, first, rejected)
				}
				return second, nil
			}})
		watch, identity, address := s.watch(t, transport)
		require.Equal(t, "first t1", identity)

		s.rejected.Store("first")
		identity, next := s.identity(t, transport)
		require.Equal(t, "second t1", identity)
		require.NotEqual(t, address, next)
		require.Equal(t, int32(3), asked.Load(), "CredentialFunc must be called once per request and once after the 401")
		s.lines <- "more"
		require.Equal(t, "more\n", watch.next(t))
	})
}

func TestOldCredentialClosesIdleConnections(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		given := credential(t, ours, "first", "t1")
		transport := connect(t, s.Server, &lwhttp.Options{CAFile: s.directory + "/ca",
			CredentialFunc: func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) { return given, nil }})
		_, _ = s.identity(t, transport)
		given = credential(t, ours, "second", "t1")
		identity, _ := s.identity(t, transport)
		require.Equal(t, "second t1", identity)
		s.eventuallyOpen(t, 1)
	})
}

func credential(t *testing.T, a *certs.Authority, name, token string) *lwhttp.Credential {
	cert, key := a.Issue(t, name)
	return &lwhttp.Credential{Token: token, CertData: cert, KeyData: key}
}

func TestCredentialFuncAfterRejection(t *testing.T) {
	sent := 0
	network := roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: 401, Body: http.NoBody}, nil
	})
	var answer func(rejected *lwhttp.Credential) (*lwhttp.Credential, error)
	transport, err := lwhttp.New("https://k8s.example", &lwhttp.Options{
		Client:         &http.Client{Transport: network},
		CredentialFunc: func(_ context.Context, r *lwhttp.Credential) (*lwhttp.Credential, error) { return answer(r) },
	})
	require.NoError(t, err)
	failure := errors.New("log in first")
	for name, c := range map[string]struct {
		answer func(rejected *lwhttp.Credential) (*lwhttp.Credential, error)
		sent   int
		err    string
	}{
		"same token again":        {func(*lwhttp.Credential) (*lwhttp.Credential, error) { return &lwhttp.Credential{Token: "t"}, nil }, 1, "401"},
		"no credential":           {func(*lwhttp.Credential) (*lwhttp.Credential, error) { return nil, nil }, 1, "401"},
		"new token each time":     {func(r *lwhttp.Credential) (*lwhttp.Credential, error) { return &lwhttp.Credential{Token: more(r)}, nil }, 2, "401"},
		"error on the first call": {func(*lwhttp.Credential) (*lwhttp.Credential, error) { return nil, failure }, 0, "log in first"},
		"error after a 401": {func(r *lwhttp.Credential) (*lwhttp.Credential, error) {
			if r != nil {
				return nil, failure
			}
			return &lwhttp.Credential{Token: "t"}, nil
		}, 1, "log in first"},
		"certificate with a custom Client": {func(*lwhttp.Credential) (*lwhttp.Credential, error) {
			return credential(t, certs.NewAuthority(t), "jane", ""), nil
		}, 0, "must not return a certificate"},
	} {
		sent, answer = 0, c.answer
		_, err := get(t, transport, pods)
		require.ErrorContains(t, err, c.err, name)
		require.Equal(t, c.sent, sent, name)
	}
}

func more(c *lwhttp.Credential) string {
	if c == nil {
		return "t"
	}
	return c.Token + "t"
}

func TestCredentialFuncInvalidCertificate(t *testing.T) {
	_, key := certs.NewAuthority(t).Issue(t, "jane")
	for _, given := range []*lwhttp.Credential{{KeyData: key}, {CertData: []byte("x"), KeyData: key}, {CertData: key, KeyData: key}} {
		transport, err := lwhttp.New("https://127.0.0.1:1", &lwhttp.Options{
			CredentialFunc: func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) { return given, nil },
		})
		require.NoError(t, err)
		_, err = get(t, transport, pods)
		require.ErrorContains(t, err, "http: the client certificate: ")
		require.NotContains(t, err.Error(), "PRIVATE KEY-----")
	}
}
