//go:build !js

package http_test

import (
	"crypto/tls"
	"io"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// The test replaces the credential of a watch while the watch is open. The watch must continue, and the next request
// must use the new credential. A new certificate needs a new connection, and the old connection must close after the
// watch.
func TestRotationDuringWatch(t *testing.T) {
	other := certs.NewAuthority(t)
	for name, c := range map[string]struct {
		rotate   func(*testing.T, *scene, *certs.Authority)
		minute   bool // if true, a minute passes before the next request; if false, the server rejects the old credential
		identity string
		sent     int32 // maximum number of requests that the server receives
	}{
		"client certificate": {func(t *testing.T, s *scene, ours *certs.Authority) { s.issue(t, ours, "second") }, true, "second t1", 1},
		"client certificate after a rejection": {func(t *testing.T, s *scene, ours *certs.Authority) {
			s.issue(t, ours, "second")
			s.rejected.Store("first")
		}, false, "second t1", 2},
		"CA file": {func(t *testing.T, s *scene, ours *certs.Authority) {
			s.trusts(t, other, ours)
			write(t, s.directory, "ca", other.PEM)
		}, true, "first t1", 1},
		"token after a 401": {func(t *testing.T, s *scene, ours *certs.Authority) {
			write(t, s.directory, "token", []byte("t2"))
			s.rejected.Store("Bearer t1")
		}, false, "first t2", 2},
		"all credentials after a 401": {func(t *testing.T, s *scene, ours *certs.Authority) {
			s.trusts(t, other, other)
			s.issue(t, other, "second")
			write(t, s.directory, "ca", other.PEM)
			write(t, s.directory, "token", []byte("t2"))
			s.rejected.Store("Bearer t1")
		}, false, "second t2", 2}, // over HTTP/1.1, the first attempt fails without reaching the server
	} {
		t.Run(name, func(t *testing.T) {
			eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
				transport := s.connect(t)
				watch, identity, address := s.watch(t, transport)
				require.Equal(t, "first t1", identity)

				c.rotate(t, s, ours)
				if c.minute {
					transport.Age()
				}
				before := s.requests.Load()
				identity, next := s.identity(t, transport)
				require.Equal(t, c.identity, identity)
				require.LessOrEqual(t, s.requests.Load()-before, c.sent)
				if c.identity != "first t2" { // a new token alone does not require a new connection
					require.NotEqual(t, address, next)
				}

				s.lines <- "more"
				require.Equal(t, "more\n", watch.next(t))
				s.lines <- ""
				_, err := watch.lines.ReadString('\n')
				require.Equal(t, io.EOF, err)
				require.NoError(t, watch.Close())
				transport.Close()
				s.eventuallyOpen(t, 0)
			})
		})
	}
}

func TestChangedFilesCloseIdleConnections(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		transport := s.connect(t)
		_, _ = s.identity(t, transport)
		s.issue(t, ours, "second")
		transport.Age()
		_, _ = s.identity(t, transport)
		s.eventuallyOpen(t, 1)
	})
}

// If the client or the server rejects a certificate, the transport must read the files again and retry. In TLS 1.3, the
// server rejects a certificate only after the handshake.
func TestRejectedCertificateRereadsFiles(t *testing.T) {
	other := certs.NewAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			eachProtocol(t, version, func(t *testing.T, s *scene, ours *certs.Authority) {
				transport := s.connect(t)
				for _, rotate := range []func(){
					func() { s.issue(t, other, "second") },
					func() { write(t, s.directory, "ca", other.PEM) },
				} {
					identity, _ := s.identity(t, transport)
					requests, handshakes := s.requests.Load(), s.handshakes.Load()
					if rotated := identity != "first t1"; rotated {
						s.trusts(t, other, other)
					} else {
						s.trusts(t, ours, other)
					}
					transport.Close()
					_, err := get(t, transport, pods)
					require.Error(t, err, "the request must fail while the files are unchanged")
					require.Equal(t, requests, s.requests.Load())
					require.Equal(t, handshakes+1, s.handshakes.Load(), "while the files are unchanged, the transport must not try another handshake")
					rotate()
					identity, _ = s.identity(t, transport)
					require.Equal(t, "second t1", identity)
					require.Equal(t, requests+1, s.requests.Load())
				}
			})
		})
	}
}

func TestInvalidFilesKeepPrevious(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		transport := s.connect(t)
		_, address := s.identity(t, transport)
		_, key := ours.Issue(t, "second")
		write(t, s.directory, "key", key)
		transport.Age()
		identity, same := s.identity(t, transport)
		require.Equal(t, "first t1", identity)
		require.Equal(t, address, same, "the connection must be reused")

		s.rejected.Store("first")
		before := s.requests.Load()
		_, err := get(t, transport, pods)
		require.Equal(t, &lw.StatusError{Code: 401}, err)
		require.Equal(t, before+1, s.requests.Load())

		s.issue(t, ours, "second")
		identity, _ = s.identity(t, transport)
		require.Equal(t, "second t1", identity)
	})
}

// Concurrent requests must not fail when files rotate. The first request reads the files for all requests.
func TestManyOpensWhileFilesRotate(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		transport := s.connect(t)
		for _, rejected := range []string{"first", "second", "third"} {
			s.issue(t, ours, map[string]string{"first": "second", "second": "third", "third": "fourth"}[rejected])
			s.rejected.Store(rejected)
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					_, err := get(t, transport, pods)
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
	})
}

func TestLaterOptionChangesAreIgnored(t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, s *scene, ours *certs.Authority) {
		cert, key := ours.Issue(t, "jane")
		opts := &lwhttp.Options{CAFile: s.directory + "/ca", CertData: cert, KeyData: key, Token: "t1"}
		transport := connect(t, s.Server, opts)
		clear(key)
		opts.CAFile = "elsewhere"
		other := certs.NewAuthority(t)
		s.trusts(t, other, ours)
		write(t, s.directory, "ca", other.PEM)
		identity, _ := s.identity(t, transport)
		require.Equal(t, "jane t1", identity)
	})
}
