package clientgo

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestFollowsCollectionWithAnotherKind deletes a CustomResourceDefinition and recreates it with another kind. The
// informers must report the deleted object and follow the new ones. Before it lists, the client asks the server for
// the new kind. This request must not contain the informer's namespace and selectors.
func TestFollowsCollectionWithAnotherKind(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*lwtest.Options{"streaming lists": nil, "lists": {NoStreamingLists: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := lwtest.Start(opts)
			require.NoError(t, err)
			t.Cleanup(server.Close)
			requireFollowsAnotherKind(t, server)
		})
	}
}

func requireFollowsAnotherKind(t *testing.T, server *lwtest.Server) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	create := func(kind, name string) (undefine func()) {
		undefine = define(t, server, "widgets.example.com", kind)
		_, err := server.Put("widgets.example.com", fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"}}`, name))
		require.NoError(t, err)
		return undefine
	}
	undefine := create("Widget", "a")
	config := &rest.Config{Host: server.URL}
	opts := &FactoryOptions{Namespace: "shop", TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "app!=x" }}
	dynamic, err := NewDynamicSharedInformerFactory(config, 0, opts)
	require.NoError(t, err)
	metadata, err := NewMetadataSharedInformerFactory(config, 0, opts)
	require.NoError(t, err)
	followed := []informers.GenericInformer{dynamic.ForResource(widgets), metadata.ForResource(widgets)}
	handlers, missing := make([]metadataRecorder, len(followed)), make([]chan error, len(followed))
	for n, f := range followed {
		missing[n] = make(chan error, 100)
		require.NoError(t, f.Informer().SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
			if apierrors.IsNotFound(err) {
				missing[n] <- err
			}
		}))
		_, err := f.Informer().AddEventHandler(&handlers[n])
		require.NoError(t, err)
		start(t, f.Informer())
		handlers[n].wait(t, "add a true")
	}
	require.NoError(t, server.Delete("widgets.example.com", "shop", "a"))
	for n := range handlers {
		handlers[n].wait(t, "add a true", "delete a")
	}
	undefine()
	for n := range missing {
		<-missing[n]
	}
	create("Gadget", "b")
	server.Compact() // the informers must list the new collection
	for n, f := range followed {
		handlers[n].wait(t, "add a true", "delete a", "add b false")
		require.Equal(t, []string{"shop/b"}, f.Informer().GetStore().ListKeys())
	}
	for _, request := range server.Requests(func(r lwtest.Request) bool { return r.URL.Path == "/apis/example.com/v1" }) {
		require.Empty(t, request.URL.RawQuery)
	}
}

// TestRecreatedNamespace deletes an informer's namespace together with its RoleBinding, so that the server rejects
// the informer's requests. When the namespace exists again, the informer must report the new Pod with the same
// name.
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

// TestNamespaceIsRecreatedBetweenRuns recreates a namespace while the program does not run. The Pod has the same
// name but another UID, so the next run must not report an update.
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
