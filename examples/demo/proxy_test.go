package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

// stand is a proxy in front of an API server that requires a token. Only the kubeconfig contains the token.
type stand struct {
	*testing.T
	api *lwtest.Server
	*proxy
}

func newStand(t *testing.T) *stand {
	t.Chdir("../..") // the page is relative to the root of the repository
	api, err := lwtest.Start(&lwtest.Options{Tokens: map[string]bool{"token-of-ann": true}})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	_, err = api.Put("pods", `{"metadata":{"name":"a","namespace":"t"}}`)
	require.NoError(t, err)
	secure := httptest.NewTLSServer(api) // the credentials of a kubeconfig are not sent over plain HTTP
	t.Cleanup(secure.Close)
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{current-context: c, contexts: [{name: c, context: {cluster: c, user: ann}}], users: [{name: ann, user: {token: token-of-ann}}],
		clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]}`, secure.URL)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	transport, _, err := kubeconfig.Connect(&kubeconfig.Options{Path: path})
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	listener, err := listen()
	require.NoError(t, err)
	guard := newProxy(listener.Addr().String(), transport)
	end := serve(listener, guard)
	t.Cleanup(func() { _ = end() })
	return &stand{t, api, guard}
}

// do sends a request to a path after the secret path, and returns the status code and the body.
func (s *stand) do(method, path string, change func(*http.Request)) (int, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, "http://"+s.host+"/"+s.secret+path, http.NoBody)
	require.NoError(s, err)
	r.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json")
	if change != nil {
		change(r)
	}
	response, err := http.DefaultTransport.RoundTrip(r) // does not follow redirects
	require.NoError(s, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(s, err)
	return response.StatusCode, string(body)
}

func TestProxyAllowsReads(t *testing.T) {
	s := newStand(t)
	for path, contents := range map[string]string{
		"/api":                                 `"APIGroupDiscoveryList"`,
		"/apis":                                `"APIGroupDiscoveryList"`,
		"/api/v1/pods?limit=1":                 `"name":"a"`,
		"/api/v1/namespaces/t/pods":            `"name":"a"`,
		"/api/v1/namespaces/t/pods/a":          `"name":"a"`,
		"/apis/apps/v1/deployments":            `"DeploymentList"`,
		"/api/v1/namespaces/t/configmaps/b%3A": "", // a name may contain a colon
	} {
		code, body := s.do(http.MethodGet, path, nil)
		if contents == "" {
			require.Equal(t, http.StatusNotFound, code, path)
			require.Contains(t, body, `not found`)
			continue
		}
		require.Equal(t, http.StatusOK, code, "%s: %s", path, body)
		require.Contains(t, body, contents, path)
	}
}

func TestProxyStreamsWatches(t *testing.T) {
	s := newStand(t)
	const watch = "/api/v1/namespaces/t/pods?watch=1&allowWatchBookmarks=1"
	response, err := http.Get("http://" + s.host + "/" + s.secret + watch)
	require.NoError(t, err)
	defer response.Body.Close()
	events := bufio.NewReader(response.Body)
	socket, handshake, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+s.host+"/"+s.secret+watch, http.Header{"Origin": {"http://" + s.host}})
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1", handshake.Proto, "Firefox requires this version")
	defer socket.Close()
	for _, name := range []string{"a", "b"} { // the proxy must not wait for a full buffer
		_, err := s.api.Put("pods", `{"metadata":{"name":"`+name+`","namespace":"t"}}`)
		require.NoError(t, err)
		line, err := events.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, `"name":"`+name+`"`)
		_, message, err := socket.ReadMessage()
		require.NoError(t, err)
		require.Contains(t, string(message), `"name":"`+name+`"`)
	}
}

func TestProxyRefusesEverythingElse(t *testing.T) {
	s := newStand(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		code         int
	}{
		{"GET", "/api/v1/namespaces/t/pods/a/exec?command=id&stdout=1", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a/attach?stdout=1", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a/portforward?ports=80", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a/proxy", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a/proxy/index.html", nil, 403},
		{"GET", "/api/v1/namespaces/t/services/https:a:443/proxy/", nil, 403},
		{"GET", "/api/v1/nodes/a/proxy/pods", nil, 403},
		{"GET", "/api/v1/nodes/a/proxy", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a/log", nil, 403},
		{"GET", "/apis/subresources.example.com/v1/namespaces/t/machines/a/console", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a%2Fexec", nil, 403},
		{"GET", "/api/v1/namespaces/t/pods/a%252Fexec", nil, 403},
		{"GET", "/api/v1/nodes/..%2fnamespaces", nil, 403},
		{"GET", "/api/v1/nodes/../../../metrics", nil, 403},
		{"GET", "/api/v1/nodes/..", nil, 403},
		{"GET", "/api/v1//pods", nil, 403},
		{"GET", "/metrics", nil, 403},
		{"GET", "/", nil, 403},
		{"POST", "/api/v1/namespaces/t/pods/a/exec?command=id", nil, 405},
		{"POST", "/api/v1/namespaces/t/pods", nil, 405},
		{"PUT", "/api/v1/namespaces/t/pods/a", nil, 405},
		{"PATCH", "/api/v1/namespaces/t/pods/a", nil, 405},
		{"DELETE", "/api/v1/namespaces/t/pods/a", nil, 405},
		{"OPTIONS", "/api/v1/pods", nil, 405},
		{"GET", "/api/v1/pods", func(r *http.Request) { r.Host = "attacker.example:8484" }, 403},
		{"GET", "/api/v1/pods", func(r *http.Request) { r.Host = strings.Replace(s.host, "127.0.0.1", "localhost", 1) }, 403},
		{"GET", "/api/v1/pods", header("Origin", "http://attacker.example"), 403},
		{"GET", "/api/v1/pods", header("Origin", "http://127.0.0.1:1"), 403},
		{"GET", "/api/v1/pods", header("Origin", "null"), 403},
		{"GET", "/api/v1/pods", header("Authorization", "Bearer x"), 401},
		{"GET", "/api/v1/pods", func(r *http.Request) { r.URL.Path = "/api/v1/pods" }, 404},
		{"GET", "/ui/", func(r *http.Request) { r.URL.Path = "/ui/" }, 404},
		{"GET", "/ui/", func(r *http.Request) { r.URL.Path = "/" + s.secret + "x/ui/" }, 403},
		{"GET", "/ui/", header("Origin", "http://attacker.example"), 403},
	} {
		code, body := s.do(c.method, c.path, c.change)
		require.Equal(t, c.code, code, "%s %s: %s", c.method, c.path, body)
		require.Contains(t, body, "demo: ", "%s %s", c.method, c.path)
	}
	require.Empty(t, s.api.Requests(nil), "no refused request may reach the server")
	code, body := s.do("GET", "/ui/", nil)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, "<title>listwatch</title>")
}

func TestProxyRefusesWebSockets(t *testing.T) {
	s := newStand(t)
	for _, c := range []struct {
		path, origin string
		code         int
	}{
		{"/api/v1/namespaces/t/pods/a/exec?command=id&stdout=1", "http://" + s.host, 403},
		{"/api/v1/namespaces/t/pods/a/attach?stdout=1", "http://" + s.host, 403},
		{"/api/v1/namespaces/t/pods/a/portforward?ports=80", "http://" + s.host, 403},
		{"/api/v1/namespaces/t/pods/a/proxy/", "http://" + s.host, 403},
		{"/api/v1/nodes/a/proxy/exec", "http://" + s.host, 403},
		{"/api/v1/pods?watch=1", "http://attacker.example", 403},
		{"/api/v1/pods?watch=1", "http://127.0.0.1:1", 403},
	} {
		socket, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+s.host+"/"+s.secret+c.path, http.Header{"Origin": {c.origin}})
		if err == nil {
			_ = socket.Close()
		}
		require.ErrorIs(t, err, websocket.ErrBadHandshake, c.path)
		require.Equal(t, c.code, response.StatusCode, c.path)
	}
	require.Empty(t, s.api.Requests(nil), "no refused request may reach the server")
}

func TestProxyHidesBrowserHeaders(t *testing.T) {
	s := newStand(t)
	code, _ := s.do("GET", "/api/v1/pods", func(r *http.Request) {
		r.Header.Set("Cookie", "session=1")
		r.Header.Set("Impersonate-User", "admin")
	})
	require.Equal(t, http.StatusOK, code)
	socket, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+s.host+"/"+s.secret+"/api/v1/pods?watch=1",
		http.Header{"Cookie": {"session=1"}, "Impersonate-User": {"admin"}})
	require.NoError(t, err)
	defer socket.Close()
	received := s.api.Requests(nil)
	require.Len(t, received, 2)
	for _, r := range received {
		require.Equal(t, "Bearer token-of-ann", r.Header.Get("Authorization"))
		for _, name := range []string{"Cookie", "Impersonate-User"} {
			require.Empty(t, r.Header.Get(name), name)
		}
	}
}

func TestProxyReportsFailures(t *testing.T) {
	s := newStand(t)
	s.api.Close()
	code, body := s.do("GET", "/api/v1/pods", nil)
	require.Equal(t, http.StatusBadGateway, code)
	require.Contains(t, body, `"message":`)
}
