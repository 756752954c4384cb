package environment

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func start(t *testing.T) *lwtest.Server {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Run(ctx, transport, clientset) }()
	t.Cleanup(func() { stop(); <-done })
	return server
}

func create(t *testing.T, server *lwtest.Server, object string) {
	_, err := server.Put("namespaces", object)
	require.NoError(t, err)
}

func labeled(server *lwtest.Server, name string) func() bool {
	return func() bool {
		_, objects := server.State("namespaces")
		return strings.Contains(objects[name].Raw(), `"environment":"development"`)
	}
}

func patches(r lwtest.Request) bool { return r.Method == http.MethodPatch }

func TestLabelsNamespace(t *testing.T) {
	server := start(t)
	create(t, server, `{"metadata":{"name":"shop"}}`)
	require.Eventually(t, labeled(server, "shop"), time.Minute, time.Millisecond)
}

func TestKeepsExistingLabel(t *testing.T) {
	server := start(t)
	create(t, server, `{"metadata":{"name":"shop","labels":{"environment":"production"}}}`)
	create(t, server, `{"metadata":{"name":"blog"}}`) // once "blog" is labeled, the controller has handled "shop"
	require.Eventually(t, labeled(server, "blog"), time.Minute, time.Millisecond)
	require.Len(t, server.Requests(patches), 1)
}

func TestLabelsNamespaceAfterOutage(t *testing.T) {
	server := start(t)
	create(t, server, `{"metadata":{"name":"shop"}}`)
	require.Eventually(t, labeled(server, "shop"), time.Minute, time.Millisecond)

	server.Close()
	create(t, server, `{"metadata":{"name":"blog"}}`) // created while no watch is open
	require.NoError(t, server.Restart())              // a restart makes all older resourceVersions expire
	require.Eventually(t, labeled(server, "blog"), time.Minute, time.Millisecond)
}

func TestRetriesRejectedPatch(t *testing.T) {
	server := start(t)
	server.Fail(patches, 2, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "the object has been modified", http.StatusConflict)
	})
	create(t, server, `{"metadata":{"name":"shop"}}`)
	require.Eventually(t, labeled(server, "shop"), time.Minute, time.Millisecond)
	require.Len(t, server.Requests(patches), 3)
}
