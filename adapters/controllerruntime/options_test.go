package controllerruntime

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestOptions checks that all options take effect. A second cache must start from the saved objects without a list.
func TestOptions(t *testing.T) {
	server := startServer(t)
	_, err := server.Put("pods", `{"metadata":{"name":"a","namespace":"shop","labels":{"app":"web"}},"spec":{"nodeName":"n1","hostname":"h"}}`)
	require.NoError(t, err)
	var mu sync.Mutex
	var traced []string
	options := Options{
		Fields:        func(runtime.Object) []string { return []string{"spec.nodeName"} },
		Compress:      true,
		QueueCapacity: 10,
		StateDir:      t.TempDir(),
		Trace: func(collection string) *lw.Trace {
			mu.Lock()
			defer mu.Unlock()
			traced = append(traced, collection)
			return nil
		},
	}
	get := func() {
		c, err := options.NewCache(&rest.Config{Host: server.URL}, cache.Options{})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Start(ctx) }()
		require.True(t, c.WaitForCacheSync(ctx))
		var pod corev1.Pod
		require.NoError(t, c.Get(ctx, key, &pod))
		require.Equal(t, corev1.PodSpec{NodeName: "n1"}, pod.Spec)
		require.Empty(t, pod.Labels)
		stop()
		require.NoError(t, <-ended)
	}
	lists := func() int {
		return len(server.Requests(func(r lwtest.Request) bool {
			return r.Verb == "list" && r.URL.Query().Get("limit") != "1" || r.URL.Query().Has("sendInitialEvents")
		}))
	}
	get()
	files, err := os.ReadDir(options.StateDir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	listed := lists()
	get()
	require.Equal(t, listed, lists())
	require.Equal(t, []string{"/api/v1/pods", "/api/v1/pods"}, traced)
}
