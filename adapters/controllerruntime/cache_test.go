package controllerruntime

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func startServer(t *testing.T) *lwtest.Server {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

// define creates or replaces a CustomResourceDefinition. undefine deletes it, with its objects.
func define(t *testing.T, server *lwtest.Server, name, kind string) (undefine func()) {
	const definitions = "customresourcedefinitions.apiextensions.k8s.io"
	_, err := server.Put(definitions, sample.Definition(name, "v1", kind, ""))
	require.NoError(t, err)
	return func() { require.NoError(t, server.Delete(definitions, "", name)) }
}

// startCache starts a cache created by this package's NewCache and stops it when the test ends.
func startCache(t *testing.T, server *lwtest.Server, opts cache.Options) cache.Cache {
	return start(t, server, NewCache, opts)
}

// startStockCache starts a cache with client-go's informers and stops it when the test ends.
func startStockCache(t *testing.T, server *lwtest.Server, opts cache.Options) cache.Cache {
	return start(t, server, cache.New, opts)
}

func start(t *testing.T, server *lwtest.Server, newCache cache.NewCacheFunc, opts cache.Options) cache.Cache {
	config := &rest.Config{Host: server.URL, UserAgent: "an operator"}
	httpClient, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	opts.HTTPClient = httpClient
	return run(t, func() (cache.Cache, error) { return newCache(config, opts) })
}

func run(t *testing.T, newCache func() (cache.Cache, error)) cache.Cache {
	c, err := newCache()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	require.True(t, c.WaitForCacheSync(ctx))
	return c
}

func put(t *testing.T, server *lwtest.Server, name, image string) {
	_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"},"spec":{"containers":[{"name":"web","image":%q}]}}`, name, image))
	require.NoError(t, err)
}

func TestGetAndList(t *testing.T) {
	server := startServer(t)
	put(t, server, "a", "web:1")
	put(t, server, "b", "web:2")
	c := startCache(t, server, cache.Options{})
	var pod corev1.Pod
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "a"}, &pod))
	require.Equal(t, "web:1", pod.Spec.Containers[0].Image)
	require.Equal(t, "Pod", pod.Kind)
	var pods corev1.PodList
	require.NoError(t, c.List(t.Context(), &pods, client.InNamespace("shop")))
	require.Len(t, pods.Items, 2)
	for _, request := range server.Requests(nil) {
		require.Equal(t, "an operator", request.Header.Get("User-Agent"))
	}
}

func TestHandlerReceivesEvents(t *testing.T) {
	server := startServer(t)
	put(t, server, "a", "web:1")
	c := startCache(t, server, cache.Options{})
	informer, err := c.GetInformer(t.Context(), &corev1.Pod{})
	require.NoError(t, err)
	events := make(chan string, 10)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) { events <- fmt.Sprint("add ", obj.(*corev1.Pod).Name, " ", initial) },
		UpdateFunc: func(old, obj any) {
			events <- "update " + old.(*corev1.Pod).Spec.Containers[0].Image + " " + obj.(*corev1.Pod).Spec.Containers[0].Image
		},
		DeleteFunc: func(obj any) { events <- "delete " + obj.(*corev1.Pod).Name },
	})
	require.NoError(t, err)
	require.Equal(t, "add a true", next(t, events))
	put(t, server, "a", "web:2")
	require.Equal(t, "update web:1 web:2", next(t, events))
	put(t, server, "b", "web:1")
	require.Equal(t, "add b false", next(t, events))
	require.NoError(t, server.Delete("pods", "shop", "a"))
	require.Equal(t, "delete a", next(t, events))
}

// noRequests is a rate limiter that delays each request by an hour.
type noRequests struct{ flowcontrol.RateLimiter }

func (noRequests) Wait(ctx context.Context) error {
	select {
	case <-time.After(time.Hour):
	case <-ctx.Done():
	}
	return ctx.Err()
}

func TestRateLimitsDoNotDelayInformers(t *testing.T) {
	server := startServer(t)
	put(t, server, "a", "web:1")
	config := &rest.Config{Host: server.URL}
	httpClient, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	require.NoError(t, err)
	limited := rest.CopyConfig(config)
	limited.RateLimiter = noRequests{}
	c := run(t, func() (cache.Cache, error) {
		return NewCache(limited, cache.Options{Mapper: mapper, HTTPClient: httpClient})
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "a"}, &corev1.Pod{}))
}

func next(t *testing.T, events <-chan string) string {
	select {
	case event := <-events:
		return event
	case <-time.After(30 * time.Second):
		require.Fail(t, "no event arrived within 30 seconds")
		return ""
	}
}

func TestDropManagedFields(t *testing.T) {
	server := startServer(t)
	_, err := server.Put("pods", `{"metadata":{"name":"a","namespace":"shop"},"spec":{"nodeName":"n1"}}`) // the server adds managedFields
	require.NoError(t, err)
	for drop, want := range map[bool]int{false: 1, true: 0} {
		var pod corev1.Pod
		c := start(t, server, Options{DropManagedFields: drop}.NewCache, cache.Options{})
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "a"}, &pod))
		require.Len(t, pod.ManagedFields, want)
	}
}

// TestInformerType checks the type name of informers, because docs/drop-in.md mentions it.
func TestInformerType(t *testing.T) {
	c := startCache(t, startServer(t), cache.Options{})
	informer, err := c.GetInformer(t.Context(), &corev1.Pod{})
	require.NoError(t, err)
	require.Equal(t, "*clientgo.informer", fmt.Sprintf("%T", informer))
}

// An operator must be able to query an informer's state, because HasSynced stays true during an outage.
func TestStateOfInformer(t *testing.T) {
	server := startServer(t)
	c := startCache(t, server, cache.Options{})
	phase := func() lw.Phase {
		informer, err := c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		state, ok := clientgo.StateOf(informer)
		require.True(t, ok)
		return state.Phase
	}
	require.Eventually(t, func() bool { return phase() == lw.Live }, time.Minute, 5*time.Millisecond)
	server.Close()
	require.Eventually(t, func() bool { return phase() == lw.Stale }, time.Minute, 5*time.Millisecond)
}
