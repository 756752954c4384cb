package clientgo

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func TestStoppedInformer(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	registered, err := informer.AddEventHandler(&recorder{})
	require.NoError(t, err)
	require.False(t, informer.IsStopped())
	stop := start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	require.True(t, informer.GetController().HasSynced())
	require.ErrorIs(t, informer.SetTransform(nil), errStarted)
	require.ErrorIs(t, informer.SetWatchErrorHandler(nil), errStarted)
	require.NoError(t, informer.AddIndexers(cache.Indexers{"late": func(any) ([]string, error) { return nil, nil }}))
	informer.RunWithContext(t.Context()) // a second call returns at once
	stop()
	require.True(t, informer.IsStopped())
	_, err = informer.AddEventHandler(&recorder{})
	require.ErrorContains(t, err, "it has stopped already")
	require.ErrorContains(t, informer.AddIndexers(nil), "it has stopped already")
	require.NoError(t, informer.RemoveEventHandler(registered))
}

func TestErrorHandler(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.Fail(nil, 1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden", Message: "not you"}))
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	errs := make(chan error, 10)
	require.NoError(t, informer.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) {
		require.NotNil(t, r)
		errs <- err
	}))
	start(t, informer)
	err := <-errs
	require.True(t, apierrors.IsForbidden(err), err)
	require.ErrorIs(t, err, lw.ErrForbidden)
	require.ErrorContains(t, err, "not you")
	waitSynced(t, informer.HasSyncedChecker())
	require.Len(t, informer.GetStore().List(), 1)
}

func TestFollowsRecreatedCollection(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	informer := podInformer(t, server, nil)
	errs := make(chan error, 100)
	require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { errs <- err }))
	define(t, server, "pods", "Pod")()
	start(t, informer)
	require.True(t, apierrors.IsNotFound(<-errs))
	require.False(t, informer.HasSynced())
	define(t, server, "pods", "Pod")
	putPod(t, server, "a", "n1")
	waitSynced(t, informer.HasSyncedChecker())
	require.Len(t, informer.GetStore().List(), 1)
}

// If an informer can never work, it must report the reason once and stop.
func TestListerWithoutWrappedClient(t *testing.T) {
	server := startServer(t)
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	for name, clients := range map[string]kubernetes.Interface{"ordinary clientset": clientset, "fake clientset": fake.NewClientset()} {
		lister := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return clients.CoreV1().Pods("").List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return clients.CoreV1().Pods("").Watch(ctx, options)
			},
		}
		t.Run(name+" with a watch error handler", func(t *testing.T) {
			var errs []error
			informer := NewSharedIndexInformer(lister, &corev1.Pod{}, 0, nil)
			require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { errs = append(errs, err) }))
			informer.Run(t.Context().Done())
			require.Len(t, errs, 1)
			require.ErrorIs(t, errs[0], errNotWrapped)
		})
		t.Run(name, func(t *testing.T) {
			reported := reportedErrors(t)
			informer := NewSharedIndexInformer(lister, &corev1.Pod{}, 0, nil)
			informer.Run(t.Context().Done())
			require.True(t, informer.IsStopped())
			require.Equal(t, []string{"failed to list *v1.Pod: " + errNotWrapped.Error()}, reported())
		})
	}
}

func TestInformerWithoutExample(t *testing.T) {
	const text = "clientgo: an informer needs an example of its objects, such as &corev1.Pod{}"
	require.PanicsWithValue(t, text, func() { NewSharedIndexInformer(nil, nil, 0, nil) })
}
