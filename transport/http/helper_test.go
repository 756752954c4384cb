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

// serve returns a running server with TLS and HTTP/2, or with plain HTTP/1.1 if config is nil.
func serve(t *testing.T, config *tls.Config, handler http.HandlerFunc, setUp ...func(*http.Server)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	for _, f := range setUp {
		f(server.Config)
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests expect failed handshakes
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

// connect returns a transport to a server. If opts is nil, it trusts the certificate of [serve].
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

// trust returns options that trust the server's certificate, if it has one.
func trust(server *httptest.Server) *lwhttp.Options {
	opts := &lwhttp.Options{}
	if server.Certificate() != nil {
		opts.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
	return opts
}

// bothProtocols runs a test over HTTP/1.1 and over HTTP/2.
func bothProtocols(t *testing.T, handler http.HandlerFunc, test func(*testing.T, *httptest.Server, *lwhttp.Transport)) {
	for name, config := range map[string]*tls.Config{"HTTP/1.1": nil, "HTTP/2.0": {}} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, config, func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != name {
					t.Errorf("the protocol of the request is %s", r.Proto)
				}
				handler(w, r)
			})
			test(t, server, connect(t, server, nil))
		})
	}
}

// pods is a request for tests in which the path does not matter.
var pods = &lw.Request{Path: "/api/v1/pods"}

// requestFor returns a request with a path and a query.
func requestFor(path, query string) *lw.Request { return &lw.Request{Path: path, Query: query} }

// get returns the text of a whole response.
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

// write writes a file and returns its path.
func write(t *testing.T, directory, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(directory, name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// loopback is the address of the test servers.
const loopback = "127.0.0.1"

// roundTripper adapts a function to http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
