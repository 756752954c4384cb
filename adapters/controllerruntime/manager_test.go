package controllerruntime

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestManagerFollowsRecreatedResource removes a resource type while a manager runs, and adds it again with a different
// object. The controller must reconcile both objects.
func TestManagerFollowsRecreatedResource(t *testing.T) {
	server := startServer(t)
	const widgets = "widgets.lw.example.com"
	undefine := define(t, server, widgets, "Widget")
	_, err := server.Put(widgets, `{"metadata":{"name":"a","namespace":"shop"},"spec":{"size":1}}`)
	require.NoError(t, err)
	mgr, err := manager.New(&rest.Config{Host: server.URL}, manager.Options{
		NewCache: NewCache, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Controller: config.Controller{SkipNameValidation: new(true)}, // allows a second controller with this name, for go test -count=2
	})
	require.NoError(t, err)
	seen := make(chan string, 100)
	err = builder.ControllerManagedBy(mgr).For(widget()).Named("widgets").
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			err := mgr.GetClient().Get(ctx, request.NamespacedName, widget())
			if client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			}
			state := "has "
			if err != nil {
				state = "lost "
			}
			seen <- state + request.Name
			return reconcile.Result{}, nil
		}))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()
	require.Equal(t, "has a", next(t, seen))
	requests := len(server.Requests(nil))
	undefine()
	require.Eventually(t, func() bool { return len(server.Requests(nil)) > requests }, time.Minute, 5*time.Millisecond)
	define(t, server, widgets, "Widget")
	_, err = server.Put(widgets, `{"metadata":{"name":"b","namespace":"shop"},"spec":{"size":2}}`)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"lost a", "has b"}, []string{next(t, seen), next(t, seen)})
}
