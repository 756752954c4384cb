//go:build !js

package http_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// requestRecorder is a server that records the credentials of each request. It redirects /to?URL to URL.
type requestRecorder struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newRequestRecorder(t *testing.T, config *tls.Config) *requestRecorder {
	w := &requestRecorder{}
	w.Server = serve(t, config, func(response http.ResponseWriter, r *http.Request) {
		var credentials []string
		for _, name := range []string{"Authorization", "Impersonate-User"} {
			if value := r.Header.Get(name); value != "" {
				credentials = append(credentials, value)
			}
		}
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			credentials = append(credentials, "certificate of "+r.TLS.PeerCertificates[0].Subject.CommonName)
		}
		w.mu.Lock()
		w.seen = append(w.seen, strings.Join(credentials, ", "))
		w.mu.Unlock()
		if r.URL.Path == "/to" {
			http.Redirect(response, r, r.URL.RawQuery, http.StatusTemporaryRedirect)
		}
	})
	return w
}

// take returns the credentials of all requests since the last call.
func (w *requestRecorder) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

// After a redirect, only the server's own origin may receive credentials.
func TestRedirectsGetNoCredentials(t *testing.T) {
	authority := certs.NewAuthority(t)
	config := authority.Config(t, "localhost", loopback)
	config.ClientAuth = tls.RequestClientCert // accept and record any client certificate
	server, neighbour, plain := newRequestRecorder(t, config), newRequestRecorder(t, config), newRequestRecorder(t, nil)
	otherName := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	cert, key := authority.Issue(t, "jane")
	header := http.Header{"Impersonate-User": {"system:admin"}}

	native := &lwhttp.Options{CAData: authority.PEM, CertData: cert, KeyData: key, Token: "s3cret", Header: header}
	customTransport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}, ForceAttemptHTTP2: true}
	custom := &lwhttp.Options{Client: &http.Client{Transport: customTransport}, Token: "s3cret", Header: header}
	for name, c := range map[string]struct {
		opts *lwhttp.Options
		all  string
	}{
		"default client": {native, "Bearer s3cret, system:admin, certificate of jane"},
		"custom client":  {custom, "Bearer s3cret, system:admin"},
	} {
		t.Run(name, func(t *testing.T) {
			transport := connect(t, server.Server, c.opts)
			follow := func(url string) {
				_, err := get(t, transport, requestFor("/to", url))
				require.NoError(t, err)
			}
			follow(server.URL + "/elsewhere")
			require.Equal(t, []string{c.all, c.all}, server.take(), "redirect to the same origin")
			follow(otherName + "/elsewhere")
			require.Equal(t, []string{c.all, ""}, server.take(), "redirect to another host")
			follow(neighbour.URL + "/")
			require.Equal(t, []string{""}, neighbour.take(), "redirect to another port")
			follow(plain.URL + "/")
			require.Equal(t, []string{""}, plain.take(), "plain HTTP")
			follow(neighbour.URL + "/to?" + plain.URL + "/")
			require.Equal(t, []string{"", ""}, append(neighbour.take(), plain.take()...), "second redirect after a redirect to another origin")
			server.take()
		})
	}
}

func TestOriginKeepsBracketsOfIPv6(t *testing.T) {
	transport, err := lwhttp.New("https://[FD00::1]", nil)
	require.NoError(t, err)
	defer transport.Close()
	require.Equal(t, "http.Transport{https://[fd00::1]:443}", fmt.Sprint(transport))
}

func TestRedirectOrigins(t *testing.T) {
	for _, c := range []struct {
		server, location string
		own              bool
	}{
		{"https://k8s.example", "/x", true},
		{"https://k8s.example", "https://k8s.example:443/x", true},
		{"https://k8s.example:443", "https://K8S.Example/x", true},
		{"http://k8s.example", "http://k8s.example:80/x", true},
		{"https://[::1]:6443", "https://[::1]:6443/x", true},
		{"https://k8s.example", "http://k8s.example/x", false},
		{"https://k8s.example:80", "http://k8s.example/x", false},
		{"http://k8s.example", "https://k8s.example/x", false},
		{"https://k8s.example", "https://k8s.example:6443/x", false},
		{"https://k8s.example", "https://sub.k8s.example/x", false},
		{"https://k8s.example", "https://k8s.example.evil.test/x", false},
		{"https://k8s.example", "//evil.test/x", false},
		{"https://k8s.example", "https://k8s.example@evil.test/x", false},
	} {
		var last *http.Request
		opts := &lwhttp.Options{Token: "s3cret", Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			last = r
			response := &http.Response{StatusCode: 200, Header: http.Header{"Location": {c.location}}, Body: http.NoBody}
			if r.URL.Path != "/x" {
				response.StatusCode = http.StatusFound
			}
			return response, nil
		})}}
		transport, err := lwhttp.New(c.server, opts)
		require.NoError(t, err)
		_, err = get(t, transport, pods)
		require.NoError(t, err)
		require.Equal(t, "/x", last.URL.Path)
		require.Equal(t, c.own, last.Header.Get("Authorization") == "Bearer s3cret", "redirect from %s to %s", c.server, c.location)
	}
}

func TestTraceReportsRedirects(t *testing.T) {
	other := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	server := newRequestRecorder(t, nil)
	transport := connect(t, server.Server, &lwhttp.Options{Token: "s3cret"})
	var reported []string
	ctx := lw.WithTrace(t.Context(), &lw.Trace{Redirected: func(origin string) { reported = append(reported, origin) }})
	_, err := transport.Open(ctx, requestFor("/to", other.URL+"/x?y"))
	require.ErrorIs(t, err, lw.ErrUnauthorized)
	require.EqualError(t, err, "http: redirected to "+other.URL+" without credentials: the server answered 401")
	require.Equal(t, []string{other.URL}, reported)

	body, err := transport.Open(ctx, requestFor("/to", server.URL+"/x"))
	require.NoError(t, err)
	require.NoError(t, body.Close())
	require.Len(t, reported, 1, "redirects within the origin must not be reported")
}
