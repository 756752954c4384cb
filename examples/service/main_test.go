package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

func get(t *testing.T, url string) (status int, body string) {
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// start starts an API server and a service that watches it. It returns the server, the service's URL, and a channel
// that receives the stream's error.
func start(t *testing.T, opts *lwtest.Options) (server *lwtest.Server, url string, ended <-chan error) {
	server, err := lwtest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	client, err := connect(server.URL)
	require.NoError(t, err)
	pods := cache.NewInformer(client, &lw.Options{StopOn: lw.IsPermanent})
	service := httptest.NewServer(handler(pods))
	t.Cleanup(service.Close)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	done := make(chan error, 1)
	go func() { done <- pods.Run(ctx) }()
	return server, service.URL, done
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 30*time.Second, 5*time.Millisecond)
}

func TestServiceAnswersFromTheStore(t *testing.T) {
	server, url, _ := start(t, nil)
	_, err := server.Put("pods", `{"metadata":{"name":"web-0"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}`)
	require.NoError(t, err)
	eventually(t, func() bool { _, body := get(t, url+"/nodes/n1"); return body == "default/web-0 Running\n" })
	status, body := get(t, url+"/nodes/n2")
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, body)
}

func TestServiceIsNotReadyWhileTheServerIsAway(t *testing.T) {
	server, url, _ := start(t, nil)
	ready := func(want int) func() bool {
		return func() bool { status, _ := get(t, url+"/readyz"); return status == want }
	}
	eventually(t, ready(http.StatusOK))
	server.Close()
	eventually(t, ready(http.StatusServiceUnavailable))
	require.NoError(t, server.Restart())
	eventually(t, ready(http.StatusOK))
}

func TestServiceStopsIfItIsForbidden(t *testing.T) {
	_, _, ended := start(t, &lwtest.Options{Tokens: map[string]bool{"secret": true}})
	require.ErrorIs(t, <-ended, lw.ErrForbidden)
}
