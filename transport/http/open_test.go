//go:build !js

package http_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// A path without a leading slash could extend the host name in the URL. Such a path must not send a request to another
// host.
func TestPathCannotChangeHost(t *testing.T) {
	var asked atomic.Int64
	bothProtocols(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }, func(t *testing.T, server *httptest.Server, transport *lwhttp.Transport) {
		for _, path := range []string{"@" + server.Listener.Addr().String() + "/x", "x", ":1/x", ".example/x"} {
			_, err := transport.Open(t.Context(), &lw.Request{Path: path})
			require.EqualError(t, err, "http: the request path must start with a slash, for example /api/v1/pods", path)
		}
		require.Zero(t, asked.Load())
	})
}

func TestEventsAreNotBuffered(t *testing.T) {
	send := make(chan string)
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		for line := range send {
			if line == "" {
				return
			}
			_, _ = io.WriteString(w, line)
			_ = http.NewResponseController(w).Flush()
		}
	}, func(t *testing.T, _ *httptest.Server, transport *lwhttp.Transport) {
		go func() { send <- "first\n" }()
		body, err := transport.Open(t.Context(), &lw.Request{Path: "/api/v1/pods", Query: "watch=1", Watch: true})
		require.NoError(t, err)
		defer body.Close()
		lines := bufio.NewReader(body)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "first\n", line)
		send <- "second\n" // the test has received the first event before the server sends the second
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "second\n", line)
		send <- ""
		_, err = lines.ReadString('\n')
		require.Equal(t, io.EOF, err, "after a clean end, Read must return io.EOF unwrapped")
	})
}

// Kubernetes 1.37 compresses each event of a streaming list as a gzip member. compress/gzip returns the end of a member
// only after the next member has started, so each event would be delayed until the next event. Therefore, watches must
// not accept gzip.
func TestCompressedEventsAreNotBuffered(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{CompressStreamingLists: true})
	require.NoError(t, err)
	defer server.Close()
	_, err = server.Put("pods", `{"metadata":{"name":"a","namespace":"t"}}`)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // less than the 60 seconds until the server sends a bookmark
	defer cancel()
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)
	var seen []lw.EventType
	for event := range lw.ListAndWatch(ctx, client, nil) {
		switch seen = append(seen, event.Type); event.Type {
		case lw.WatchStarted:
			require.NoError(t, server.Delete("pods", "t", "a"))
		case lw.Deleted:
			cancel()
		}
	}
	require.Equal(t, []lw.EventType{lw.ListStarted, lw.Added, lw.Synced, lw.WatchStarted, lw.Deleted}, seen)
}

func TestManyOpensShareOneConnection(t *testing.T) {
	const n = 50
	var mu sync.Mutex
	connections := map[string]int{}
	server := serve(t, &tls.Config{}, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		connections[r.RemoteAddr]++
		mu.Unlock()
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	transport := connect(t, server, nil)
	var bodies []io.ReadCloser
	for range n {
		body, err := transport.Open(t.Context(), pods)
		require.NoError(t, err)
		bodies = append(bodies, body)
	}
	mu.Lock()
	require.Len(t, connections, 1)
	for _, requests := range connections {
		require.Equal(t, n, requests)
	}
	mu.Unlock()
	for _, body := range bodies {
		require.NoError(t, body.Close())
	}
}

func TestRequestHeaders(t *testing.T) {
	cases := map[string]struct {
		server  string
		opts    lwhttp.Options
		request lw.Request
		url     string
		header  map[string]string
	}{
		"default options": {
			server: "https://k8s.example:6443", request: lw.Request{Path: "/api/v1/pods"},
			url:    "https://k8s.example:6443/api/v1/pods",
			header: map[string]string{"Accept": "application/json", "User-Agent": "listwatch", "Authorization": ""},
		},
		"custom Accept and User-Agent": {
			server: "https://k8s.example", opts: lwhttp.Options{Header: http.Header{"User-Agent": {"lwcat/1"}}}, request: lw.Request{Path: "/", Accept: "application/json;as=Table"},
			url:    "https://k8s.example/",
			header: map[string]string{"Accept": "application/json;as=Table", "User-Agent": "lwcat/1"},
		},
		"unmodified query": {
			server: "http://k8s.example/", request: lw.Request{Path: "/api/v1/pods", Query: "limit=5&fieldSelector=a%3Db&watch=1", Watch: true},
			url: "http://k8s.example/api/v1/pods?limit=5&fieldSelector=a%3Db&watch=1",
		},
		"server URL with a path": {
			server: "https://rancher.example/k8s/clusters/c%2F1", request: lw.Request{Path: "/api/v1/namespaces/a%20b/pods"},
			url: "https://rancher.example/k8s/clusters/c%2F1/api/v1/namespaces/a%20b/pods",
		},
		"server URL with a trailing slash": {
			server: "https://rancher.example/k8s/", request: lw.Request{Path: "/api"}, url: "https://rancher.example/k8s/api",
		},
		"header names in any letter case": {
			server: "https://k8s.example", request: lw.Request{Path: "/"}, url: "https://k8s.example/",
			opts:   lwhttp.Options{Header: http.Header{"impersonate-user": {"jane"}, "X-Trace": {"1"}}},
			header: map[string]string{"Impersonate-User": "jane", "X-Trace": "1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var seen *http.Request
			c.opts.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				seen = r
				return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
			})}
			transport, err := lwhttp.New(c.server, &c.opts)
			require.NoError(t, err)
			_, err = get(t, transport, &c.request)
			require.NoError(t, err)
			require.Equal(t, http.MethodGet, seen.Method)
			require.Equal(t, c.url, seen.URL.String())
			for name, value := range c.header {
				require.Equal(t, value, seen.Header.Get(name), name)
			}
		})
	}
}

// kube-apiserver indents JSON for the user agents Mozilla/5.0, curl and Wget, which doubles the size of its responses.
func TestUserAgentIsNotABrowser(t *testing.T) {
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.UserAgent())
	}, func(t *testing.T, _ *httptest.Server, transport *lwhttp.Transport) {
		agent, err := get(t, transport, pods)
		require.NoError(t, err)
		require.NotEmpty(t, agent)
		for _, browser := range []string{"Mozilla/5.0", "curl", "Wget"} {
			require.False(t, strings.HasPrefix(agent, browser), agent)
		}
	})
}

func TestCompression(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, "plain")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		for _, text := range []string{"one ", "two"} { // Kubernetes 1.37 sends each flush of a streaming list as a separate gzip member
			member := gzip.NewWriter(w)
			_, _ = io.WriteString(member, text)
			_ = member.Close()
			_ = http.NewResponseController(w).Flush()
		}
	}
	bothProtocols(t, handler, func(t *testing.T, server *httptest.Server, transport *lwhttp.Transport) {
		text, err := get(t, transport, pods)
		require.NoError(t, err)
		require.Equal(t, "one two", text)
		opts := trust(server)
		opts.DisableCompression = true
		text, err = get(t, connect(t, server, opts), pods)
		require.NoError(t, err)
		require.Equal(t, "plain", text)
	})
}
