//go:build !js

package http_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// CredentialFunc returns different credentials to concurrent requests. Each request must use the token and the
// certificate of the same credential.
func TestTokenAndCertificateStayTogether(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		given := []*lwhttp.Credential{credential(t, ours, "jane", "token-of-jane"), credential(t, ours, "joe", "token-of-joe")}
		var asked atomic.Int32
		transport := connect(t, s.Server, &lwhttp.Options{CAFile: s.directory + "/ca",
			CredentialFunc: func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) {
				return given[int(asked.Add(1))%len(given)], nil
			}})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 30 {
					text, err := get(t, transport, pods)
					name, rest, _ := strings.Cut(text, " ")
					if err != nil || !strings.HasPrefix(rest, "Bearer token-of-"+name+" ") {
						t.Errorf("the server received %q (%v)", text, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// A request's connection breaks after another request has received a different credential. The retry must still use the
// certificate of its own credential, because it also sends the token of that credential.
func TestFailedRequestKeepsCertificate(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		var given atomic.Pointer[lwhttp.Credential]
		given.Store(credential(t, ours, "jane", "token-of-jane"))
		joe := credential(t, ours, "joe", "token-of-joe")
		transport := connect(t, s.Server, &lwhttp.Options{CAFile: s.directory + "/ca",
			CredentialFunc: func(context.Context, *lwhttp.Credential) (*lwhttp.Credential, error) { return given.Load(), nil }})
		between := ""
		s.broken.Store(func(name string) bool {
			if name != "jane" || given.Load() == joe {
				return false
			}
			given.Store(joe)
			between, _ = get(t, transport, pods)
			return true
		})
		identity, _ := s.identity(t, transport)
		require.Equal(t, "jane token-of-jane", identity)
		require.Contains(t, between, "joe Bearer token-of-joe")
	})
}
