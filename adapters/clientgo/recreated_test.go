package clientgo

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// TestRecreatedNamespace deletes the namespace of an informer together with its RoleBinding, so that the server rejects
// the informer's requests. After the namespace was recreated, the informer must report the new Pod of the same name.
func TestRecreatedNamespace(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	putPod(t, server, "a", "n1")
	putPod(t, server, "b", "n1")
	factory, err := NewSharedInformerFactory(&rest.Config{Host: server.URL}, 0, &FactoryOptions{Namespace: "shop"})
	require.NoError(t, err)
	informer := factory.Core().V1().Pods().Informer()
	errs := make(chan error, 100)
	require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { errs <- err }))
	var handler recorder
	_, err = informer.AddEventHandler(&handler)
	require.NoError(t, err)
	start(t, informer)
	eventually(t, func() bool { return len(handler.all()) == 2 })
	grant := server.Fail(nil, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden", Message: "no RoleBinding"}))
	server.CloseWatches()
	require.ErrorIs(t, <-errs, lw.ErrForbidden)
	require.NoError(t, server.Delete("pods", "shop", "a"))
	require.NoError(t, server.Delete("pods", "shop", "b"))
	putPod(t, server, "a", "n2")
	require.True(t, informer.HasSynced())
	require.Len(t, handler.all(), 2)
	grant()
	eventually(t, func() bool { return len(handler.all()) == 5 })
	require.Equal(t, []string{"delete a@n1", "delete b@n1", "add a@n2 false"}, handler.all()[2:])
	require.Equal(t, []string{"shop/a"}, informer.GetStore().ListKeys())
}

// TestNamespaceIsRecreatedBetweenRuns deletes and recreates a namespace while the program does not run. The Pod has the
// same name but another UID, so the next run must not report an update.
func TestNamespaceIsRecreatedBetweenRuns(t *testing.T) {
	t.Parallel()
	extras := Extras{StateDir: t.TempDir()}
	server := startServer(t)
	putPod(t, server, "a", "n1")
	runUntil(t, server, extras, "add a@n1 true")
	require.NoError(t, server.Delete("pods", "shop", "a"))
	putPod(t, server, "a", "n2")
	server.Compact()
	runUntil(t, server, extras, "add a@n1 true", "delete tombstone shop/a a@n1", "add a@n2 false")
	runUntil(t, server, extras, "add a@n2 true")
}
