package clientgo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The tests in this file correspond to client-go's own tests for shared informers, controllers and factories.

func TestAddedHandlerResyncs(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := NewSharedIndexInformer(listerOf(t, server, "pods"), &corev1.Pod{}, minimumResync, nil)
	var group sync.WaitGroup
	handlers := make([]recorder, 5)
	for n := range handlers {
		group.Go(func() {
			if _, err := informer.AddEventHandlerWithResyncPeriod(&handlers[n], minimumResync); err != nil {
				t.Error(err)
			}
		})
	}
	start(t, informer)
	group.Wait()
	for n := range handlers {
		eventually(t, func() bool { return slices.Contains(handlers[n].all(), "update a@n1 a@n1") })
		require.Equal(t, "add a@n1 true", handlers[n].all()[0])
	}
}

// TestWatchDisruption changes objects while the server is down. The relist must report deletions last, and the
// store must already be up to date when a handler receives a deletion.
func TestWatchDisruption(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	for _, name := range []string{"deleted", "kept", "updated"} {
		putPod(t, server, name, "n1")
	}
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	handlers := make([]recorder, 2)
	for n := range handlers {
		_, err := informer.AddEventHandler(&handlers[n])
		require.NoError(t, err)
	}
	keys := make(chan []string, 1)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { keys <- informer.GetStore().ListKeys() }})
	require.NoError(t, err)
	start(t, informer)
	for n := range handlers {
		eventually(t, func() bool { return len(handlers[n].all()) == 3 })
	}
	server.Close()
	require.NoError(t, server.Delete("pods", "shop", "deleted"))
	putPod(t, server, "updated", "n2")
	putPod(t, server, "added", "n1")
	server.Compact()
	require.NoError(t, server.Restart())
	for n := range handlers {
		eventually(t, func() bool { return len(handlers[n].all()) == 6 })
		require.Equal(t, []string{"add added@n1 false", "update updated@n1 updated@n2", "delete tombstone shop/deleted deleted@n1"}, handlers[n].all()[3:])
	}
	require.ElementsMatch(t, []string{"shop/added", "shop/kept", "shop/updated"}, <-keys)
}

// TestTransformIsSetDuringStart sets a transform while the informer starts. Either the transform applies to all
// objects, or SetTransform returns an error.
func TestTransformIsSetDuringStart(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	for range 20 {
		informer := podInformer(t, server, nil)
		var handler recorder
		_, err := informer.AddEventHandler(&handler)
		require.NoError(t, err)
		result := make(chan error, 1)
		go func() {
			result <- informer.SetTransform(func(obj any) (any, error) {
				obj.(*corev1.Pod).Spec.NodeName = "transformed"
				return obj, nil
			})
		}()
		stop := start(t, informer)
		want := "add a@transformed true"
		if err := <-result; err != nil {
			require.ErrorIs(t, err, errStarted)
			want = "add a@n1 true"
		}
		handler.wait(t, want)
		stop()
	}
}

func TestReadersDuringTransforms(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
		pod := obj.(*corev1.Pod)
		pod.Labels = map[string]string{"node": pod.Spec.NodeName}
		return pod, nil
	}))
	start(t, informer)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			for _, obj := range informer.GetStore().List() {
				if pod := obj.(*corev1.Pod); pod.Labels["node"] != pod.Spec.NodeName {
					t.Errorf("the transform was not applied to %s", pod.Name)
				}
			}
		}
	})
	for n := range 100 {
		putPod(t, server, fmt.Sprint("pod-", n%5), fmt.Sprint("n", n))
	}
	eventually(t, func() bool { return informer.LastSyncResourceVersion() == versionOf(server) })
	stop()
	group.Wait()
}

// TestTransformToAnyType uses a transform that returns strings. The store's resourceVersion must still advance with
// each event.
func TestTransformToAnyType(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetTransform(func(obj any) (any, error) { return obj.(*corev1.Pod).Spec.NodeName, nil }))
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	start(t, informer)
	handler.wait(t, "add n1 true")
	putPod(t, server, "a", "n2")
	handler.wait(t, "add n1 true", "update n1 n2")
	require.Equal(t, versionOf(server), informer.GetStore().LastStoreSyncResourceVersion())
	require.Equal(t, []any{"n2"}, informer.GetStore().List())
}

// TestStoreResourceVersionNeverDecreases drops watches and expires resourceVersions. When a handler receives an
// object from a watch, the store must have reached at least the object's resourceVersion. A relist is different: the
// store gets the list's resourceVersion only when the list is complete, and handlers may receive its objects earlier.
func TestStoreResourceVersionNeverDecreases(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	last := 0
	var relists atomic.Bool
	check := func(obj any) {
		stored, err := strconv.Atoi(informer.LastSyncResourceVersion())
		if err != nil {
			return // the store has no resourceVersion before the first list is complete
		}
		version, err := strconv.Atoi(obj.(*corev1.Pod).ResourceVersion)
		if err != nil || stored < last || stored < version && !relists.Load() {
			t.Errorf("the store has resourceVersion %d, but it had %d before, and the object has %d", stored, last, version)
		}
		last = stored
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: check, UpdateFunc: func(_, obj any) { check(obj) }})
	require.NoError(t, err)
	start(t, informer)
	for n := range 60 {
		putPod(t, server, fmt.Sprint("pod-", n%7), fmt.Sprint("n", n))
		switch n {
		case 15, 30:
			server.CloseWatches()
		case 45:
			relists.Store(true)
			server.Compact()
			server.DropConnections()
		}
	}
	eventually(t, func() bool { return informer.LastSyncResourceVersion() == versionOf(server) })
}

// TestRemovedHandlerMayPanic removes a handler that is handling an event. The handler then panics and recovers.
func TestRemovedHandlerMayPanic(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	started, goOn, recovered := make(chan struct{}), make(chan struct{}), make(chan any)
	closed := make(chan int)
	registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		defer func() { recovered <- recover() }()
		close(started)
		<-goOn
		closed <- 1
	}})
	require.NoError(t, err)
	start(t, informer)
	putPod(t, server, "a", "n1")
	<-started
	require.NoError(t, informer.RemoveEventHandler(registered))
	close(closed)
	close(goOn)
	require.Error(t, (<-recovered).(error))
}

func TestShutDownEventHandlerWaits(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	started, goOn := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	ended := false
	registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		close(started)
		<-goOn
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}})
	require.NoError(t, err)
	start(t, informer)
	putPod(t, server, "a", "n1")
	<-started
	shutDown := make(chan error, 1)
	go func() { shutDown <- shutDownEventHandler(informer, registered) }()
	select {
	case <-shutDown:
		require.Fail(t, "ShutDownEventHandler returned during a handler call")
	case <-time.After(10 * time.Millisecond):
	}
	close(goOn)
	require.NoError(t, <-shutDown)
	mu.Lock()
	defer mu.Unlock()
	require.True(t, ended)
}

// TestMain fails if one of these start and stop orders leaks a goroutine.
func TestStartAndStopOrders(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	for name, order := range map[string]func(cache.SharedIndexInformer, *recorder){
		"never started": func(informer cache.SharedIndexInformer, handler *recorder) {
			_, err := informer.AddEventHandler(handler)
			require.NoError(t, err)
		},
		"handler added before the start": func(informer cache.SharedIndexInformer, handler *recorder) {
			_, err := informer.AddEventHandler(handler)
			require.NoError(t, err)
			defer start(t, informer)()
			handler.wait(t, "add a@n1 true")
		},
		"handler added after the start": func(informer cache.SharedIndexInformer, handler *recorder) {
			defer start(t, informer)()
			waitSynced(t, informer.HasSyncedChecker())
			registered, err := informer.AddEventHandler(handler)
			require.NoError(t, err)
			handler.wait(t, "add a@n1 true")
			require.NoError(t, informer.RemoveEventHandler(registered))
		},
		"stopped before the start": func(informer cache.SharedIndexInformer, handler *recorder) {
			_, err := informer.AddEventHandler(handler)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			stop()
			informer.RunWithContext(ctx)
			require.True(t, informer.IsStopped())
			require.False(t, informer.HasSynced())
		},
	} {
		t.Run(name, func(t *testing.T) { order(podInformer(t, server, nil), &recorder{}) })
	}
}
