package controllerruntime

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestDeletionDuringOutage creates and deletes an object while the watch is down. controller-runtime's own client waits for
// the deletion event, which a relist does not bring, so all its later lists fail.
func TestDeletionDuringOutage(t *testing.T) {
	wedge := func(t *testing.T, newCache cache.NewCacheFunc, newClient client.NewClientFunc, opts client.CacheOptions) error {
		server := startServer(t)
		c := start(t, server, newCache, cache.Options{})
		opts.Reader = c
		writer, err := newClient(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, client.Options{Cache: &opts})
		require.NoError(t, err)
		require.NoError(t, writer.List(t.Context(), &corev1.ConfigMapList{}))
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 1 })
		restore := server.Fail(lwtest.Watches, -1, lwtest.HangUp())
		server.CloseWatches()
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 0 })
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
		require.NoError(t, writer.Create(t.Context(), object))
		require.NoError(t, writer.Delete(t.Context(), object))
		server.Compact()
		restore()
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 1 })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var list corev1.ConfigMapList
		err = writer.List(ctx, &list)
		require.Empty(t, list.Items)
		return err
	}
	t.Run("controller-runtime", func(t *testing.T) {
		err := wedge(t, NewCache, client.New, client.CacheOptions{EnableReadYourWritesConsistency: new(true)})
		require.ErrorIs(t, err, context.DeadlineExceeded, "controller-runtime's client no longer blocks: adapt the documentation")
	})
	t.Run("listwatch", func(t *testing.T) {
		require.NoError(t, wedge(t, NewCache, ReadYourWrites{}.NewClient, client.CacheOptions{}))
	})
}
