//go:build !js

package http_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// scene contains a test server with replaceable certificates, and the credential files of a transport.
type scene struct {
	*httptest.Server
	directory  string
	config     atomic.Pointer[tls.Config] // TLS configuration of new connections
	rejected   atomic.Value               // certificate name or token that the server rejects with 401
	requests   atomic.Int32
	handshakes atomic.Int32
	open       atomic.Int32 // number of open connections to the server
	lines      chan string  // lines that the server sends to a watch; "" ends the watch
	broken     atomic.Value // func(name string) bool; reports whether to break the connection of this certificate name
}

// newScene returns a scene and starts its server. protocol is "h2" or "http/1.1". version is the maximum TLS version,
// or 0 for the default.
func newScene(t *testing.T, protocol string, version uint16) *scene {
	s := &scene{directory: t.TempDir(), lines: make(chan string)}
	s.rejected.Store("nobody")
	config := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.handshakes.Add(1)
		config := s.config.Load().Clone()
		config.NextProtos, config.MaxVersion = []string{protocol}, version
		return config, nil
	}
	s.Server = serve(t, &tls.Config{GetConfigForClient: config, NextProtos: []string{protocol}}, s.serve, func(server *http.Server) {
		server.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.open.Add(1)
			} else if state == http.StateClosed {
				s.open.Add(-1)
			}
		}
	})
	return s
}

// serve responds with the certificate name, the token and the address of the client. For a watch, it then sends the
// strings that it receives from s.lines.
func (s *scene) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	name, token := r.TLS.PeerCertificates[0].Subject.CommonName, r.Header.Get("Authorization")
	if broken, ok := s.broken.Load().(func(name string) bool); ok && broken(name) {
		panic(http.ErrAbortHandler)
	}
	if rejected := s.rejected.Load(); rejected == name || rejected == token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintln(w, name, token, r.RemoteAddr)
	_ = http.NewResponseController(w).Flush()
	for r.URL.RawQuery == "watch=1" {
		line := ""
		select {
		case line = <-s.lines:
		case <-r.Context().Done():
		}
		if line == "" {
			return
		}
		_, _ = fmt.Fprintln(w, line)
		_ = http.NewResponseController(w).Flush()
	}
}

// trusts sets the TLS configuration of new connections. serverCA issues the server's certificate, and clientCA verifies
// client certificates.
func (s *scene) trusts(t *testing.T, serverCA, clientCA *certs.Authority) {
	config := serverCA.Config(t, "api.test", loopback)
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, clientCA.Pool()
	s.config.Store(config)
}

// issue writes a client certificate with this name, and its key, to the files of the transport.
func (s *scene) issue(t *testing.T, a *certs.Authority, name string) {
	cert, key := a.Issue(t, name)
	write(t, s.directory, "cert", cert)
	write(t, s.directory, "key", key)
}

// connect returns a transport that uses the files of the scene.
func (s *scene) connect(t *testing.T) *lwhttp.Transport {
	return connect(t, s.Server, &lwhttp.Options{
		CAFile: s.directory + "/ca", CertFile: s.directory + "/cert", KeyFile: s.directory + "/key", TokenFile: s.directory + "/token",
	})
}

// watch is the response to an open watch request, which a test reads line by line.
type watch struct {
	io.Closer
	lines *bufio.Reader
}

// watch opens a watch and reads its first line. It returns the watch, and the client's identity and address from this
// line.
func (s *scene) watch(t *testing.T, transport *lwhttp.Transport) (w *watch, identity, address string) {
	t.Helper()
	body, err := transport.Open(t.Context(), &lw.Request{Path: "/", Query: "watch=1", Watch: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = body.Close() })
	w = &watch{body, bufio.NewReader(body)}
	identity, address = parse(t, w.next(t))
	return w, identity, address
}

func (w *watch) next(t *testing.T) string {
	t.Helper()
	line, err := w.lines.ReadString('\n')
	require.NoError(t, err)
	return line
}

// eventuallyOpen blocks until the server has n open connections.
func (s *scene) eventuallyOpen(t *testing.T, n int32) {
	t.Helper()
	require.Eventually(t, func() bool { return s.open.Load() == n }, time.Minute, 5*time.Millisecond)
}

// identity sends a request and returns the client's identity and address as seen by the server.
func (s *scene) identity(t *testing.T, transport *lwhttp.Transport) (identity, address string) {
	t.Helper()
	text, err := get(t, transport, pods)
	require.NoError(t, err)
	return parse(t, text)
}

func parse(t *testing.T, line string) (identity, address string) {
	t.Helper()
	var name, bearer, token string
	_, err := fmt.Sscan(line, &name, &bearer, &token, &address)
	require.NoError(t, err)
	return name + " " + token, address
}

// eachProtocol runs a test over HTTP/2 and over HTTP/1.1. version is the maximum TLS version, or 0 for the default. The
// scene has a valid CA file, the client certificate "first" and the token "t1".
func eachProtocol(t *testing.T, version uint16, test func(*testing.T, *scene, *certs.Authority)) {
	for _, protocol := range []string{"h2", "http/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			s, ours := newScene(t, protocol, version), certs.NewAuthority(t)
			s.trusts(t, ours, ours)
			s.issue(t, ours, "first")
			write(t, s.directory, "ca", ours.PEM)
			write(t, s.directory, "token", []byte("t1"))
			test(t, s, ours)
		})
	}
}
