//go:build !js

package http_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// serve starts a server and returns it. If config is nil, the server uses plain HTTP/1.1, otherwise TLS and HTTP/2.
func serve(t *testing.T, config *tls.Config, handler http.HandlerFunc, setUp ...func(*http.Server)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	for _, f := range setUp {
		f(server.Config)
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests cause failed handshakes, which the server would log
	if config == nil {
		server.Start()
	} else {
		server.EnableHTTP2 = true
		server.TLS = config
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	return server
}

// connect returns a transport to a test server. If opts is nil, the transport trusts the server's certificate.
func connect(t *testing.T, server *httptest.Server, opts *lwhttp.Options) *lwhttp.Transport {
	t.Helper()
	if opts == nil {
		opts = trust(server)
	}
	transport, err := lwhttp.New(server.URL, opts)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	return transport
}

// trust returns options that trust the server's certificate. For a server without TLS, the options are empty.
func trust(server *httptest.Server) *lwhttp.Options {
	opts := &lwhttp.Options{}
	if server.Certificate() != nil {
		opts.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
	return opts
}

// bothProtocols runs a test twice: over HTTP/1.1 without TLS and over HTTP/2.
func bothProtocols(t *testing.T, handler http.HandlerFunc, test func(*testing.T, *httptest.Server, *lwhttp.Transport)) {
	for name, config := range map[string]*tls.Config{"HTTP/1.1": nil, "HTTP/2.0": {}} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, config, func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != name {
					t.Errorf("unexpected request over %s", r.Proto)
				}
				handler(w, r)
			})
			test(t, server, connect(t, server, nil))
		})
	}
}

// pods is a request for tests that do not depend on the path.
var pods = &lw.Request{Path: "/api/v1/pods"}

func requestFor(path, query string) *lw.Request { return &lw.Request{Path: path, Query: query} }

// get sends a request and returns the whole response body.
func get(t *testing.T, transport *lwhttp.Transport, request *lw.Request) (string, error) {
	t.Helper()
	body, err := transport.Open(t.Context(), request)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), err
}

func write(t *testing.T, directory, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(directory, name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

const loopback = "127.0.0.1"

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
