package controller

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// start starts a server and the controller, which run until the test ends. It returns the server.
func start(t *testing.T) *lwtest.Server {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	config := &rest.Config{Host: server.URL}
	config.ContentType = "application/json" // lwtest only supports JSON
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- Run(t.Context(), transport, clientset) }()
	t.Cleanup(func() { require.ErrorIs(t, <-ended, context.Canceled) })
	return server
}

func put(t *testing.T, server *lwtest.Server, name, labels, spec string) {
	_, err := server.Put("deployments.apps", `{"metadata":{"name":"`+name+`","labels":`+labels+`},"spec":`+spec+`}`)
	require.NoError(t, err)
}

const (
	labels = `{"example.com/controller":"on"}`
	none   = `{}`
	one    = `{"replicas":1,"template":{"metadata":{"labels":` + labels + `}}}`
	two    = `{"replicas":2,"template":{"metadata":{"labels":` + labels + `}}}`
)

// requirePods waits until the server has exactly the given Pods.
func requirePods(t *testing.T, server *lwtest.Server, pods ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, objects := server.State("pods")
		return slices.Equal(slices.Sorted(maps.Keys(objects)), pods)
	}, 30*time.Second, time.Millisecond)
}

func TestCreatesAndDeletesPods(t *testing.T) {
	server := start(t)
	put(t, server, "web", labels, two)
	requirePods(t, server, "default/web-0", "default/web-1")
	put(t, server, "web", labels, one)
	requirePods(t, server, "default/web-0")
}

func TestIgnoresDeploymentsWithoutTheLabel(t *testing.T) {
	server := start(t)
	put(t, server, "other", none, one)
	put(t, server, "web", labels, one)
	requirePods(t, server, "default/web-0")
}

func TestRetriesRejectedPatch(t *testing.T) {
	server := start(t)
	patches := func(r lwtest.Request) bool { return r.Verb == "patch" }
	server.Fail(patches, 2, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "the object has been modified", http.StatusConflict)
	})
	put(t, server, "web", labels, one)
	require.Eventually(t, func() bool { return len(server.Requests(patches)) == 3 }, 30*time.Second, time.Millisecond)
}

func TestRelistsAfterOutageWithCompaction(t *testing.T) {
	server := start(t)
	put(t, server, "web", labels, two)
	requirePods(t, server, "default/web-0", "default/web-1")
	server.Close()
	put(t, server, "web", labels, one)
	server.Compact()
	require.NoError(t, server.Restart())
	requirePods(t, server, "default/web-0")
}
