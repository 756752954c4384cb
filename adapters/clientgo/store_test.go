package clientgo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// byNodes is an index function for Pods that returns the node, and "any", under which a test finds all Pods.
func byNodes(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).Spec.NodeName, "any"}, nil
}

func TestIndexes(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	indexer := informer.GetIndexer()
	require.NoError(t, informer.AddIndexers(cache.Indexers{"node": byNodes}))
	require.ErrorContains(t, informer.AddIndexers(cache.Indexers{"node": byNodes}), "indexer conflict")
	require.Len(t, indexer.GetIndexers(), 2)
	putPod(t, server, "a", "n1")
	putPod(t, server, "b", "n2")
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())

	keys := func(index, value string) []string {
		keys, err := indexer.IndexKeys(index, value)
		require.NoError(t, err)
		return keys
	}
	require.Equal(t, []string{"shop/a"}, keys("node", "n1"))
	require.ElementsMatch(t, []string{"shop/a", "shop/b"}, keys("node", "any"))
	require.ElementsMatch(t, []string{"shop/a", "shop/b"}, keys(cache.NamespaceIndex, "shop"))
	require.ElementsMatch(t, []string{"n1", "n2", "any"}, indexer.ListIndexFuncValues("node"))
	similar, err := indexer.Index("node", &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n2"}})
	require.NoError(t, err)
	require.Len(t, similar, 2, "each object must appear once, even though b matches both keys")
	_, err = indexer.ByIndex("missing", "")
	require.EqualError(t, err, "Index with name missing does not exist")
	require.Empty(t, indexer.ListIndexFuncValues("missing"))

	putPod(t, server, "a", "n3")
	eventually(t, func() bool { return len(keys("node", "n3")) == 1 })
	require.Empty(t, keys("node", "n1"))
	require.NotContains(t, indexer.ListIndexFuncValues("node"), "n1")
	found, err := indexer.ByIndex("node", "n3")
	require.NoError(t, err)
	require.Equal(t, "a@n3", describe(found[0]))
}

// If an index function panics, the name of the index must stay available, so that the caller can add the index again.
func TestIndexFunctionThatPanics(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	failing := func(any) ([]string, error) { panic("a bug in the index function") }
	require.PanicsWithValue(t, "a bug in the index function", func() {
		_ = informer.AddIndexers(cache.Indexers{"node": failing})
	})
	require.Empty(t, informer.GetIndexer().GetIndexers())
	require.NoError(t, informer.AddIndexers(cache.Indexers{"node": byNodes}))
	keys, err := informer.GetIndexer().IndexKeys("node", "n1")
	require.NoError(t, err)
	require.Equal(t, []string{"shop/a"}, keys)
	putPod(t, server, "b", "n2")
	eventually(t, func() bool { return len(informer.GetIndexer().ListIndexFuncValues("node")) == 3 })
}

func TestStore(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	store := informer.GetStore()
	require.Equal(t, []string{"shop/a"}, store.ListKeys())
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	found, ok, err := store.Get(pod)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "a@n1", describe(found))
	_, ok, err = store.GetByKey("a")
	require.NoError(t, err)
	require.False(t, ok)
	_, _, err = store.Get("no object")
	require.ErrorAs(t, err, &cache.KeyError{})
	for _, err := range []error{store.Add(pod), store.Update(pod), store.Delete(pod), store.Replace(nil, "")} {
		require.ErrorIs(t, err, errReadOnly)
	}
	require.NoError(t, store.Resync())
}

// TestReportsObjectsThatCannotBeDecoded stores a Pod whose containers are not a list. The informer must report this
// Pod and skip it.
func TestReportsObjectsThatCannotBeDecoded(t *testing.T) {
	server := startServer(t)
	_, err := server.Put("pods", `{"metadata":{"name":"bad","namespace":"shop"},"spec":{"containers":"none"}}`)
	require.NoError(t, err)
	putPod(t, server, "good", "n1")
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.AddIndexers(cache.Indexers{"node": byNodes}))
	failures := reportedErrors(t)
	var handler recorder
	_, err = informer.AddEventHandler(&handler)
	require.NoError(t, err)
	stop := start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	handler.wait(t, "add good@n1 true")
	require.NotEmpty(t, failures())
	require.Len(t, informer.GetStore().List(), 1)
	_, _, err = informer.GetStore().GetByKey("shop/bad")
	require.ErrorContains(t, err, "object shop/bad: field spec.containers: expected []v1.Container, found a string")
	_, err = server.Put("pods", `{"metadata":{"name":"bad","namespace":"shop"},"spec":{"nodeName":"n2"}}`)
	require.NoError(t, err)
	handler.wait(t, "add good@n1 true", "add bad@n2 false")
	stop()
}

func TestTransform(t *testing.T) {
	for name, result := range map[string]func(*corev1.Pod) any{
		"transform to the same type": func(pod *corev1.Pod) any { return pod },
		"transform to another type":  func(pod *corev1.Pod) any { return &podAndName{*pod, pod.Name} },
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			putPod(t, server, "a", "n1")
			informer := podInformer(t, server, nil)
			calls := 0
			failures := reportedErrors(t)
			require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
				calls++
				pod := obj.(*corev1.Pod)
				if pod.Name == "bad" {
					return nil, errors.New("no")
				}
				pod.Spec.NodeName = "transformed"
				return result(pod), nil
			}))
			var handler recorder
			_, err := informer.AddEventHandler(&handler)
			require.NoError(t, err)
			stop := start(t, informer)
			waitSynced(t, informer.HasSyncedChecker())
			putPod(t, server, "bad", "n1")
			putPod(t, server, "b", "n1")
			handler.wait(t, "add a@transformed true", "add b@transformed false")
			found, ok, err := informer.GetStore().GetByKey("shop/a")
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, "a@transformed", describe(found))
			stop()
			require.Equal(t, 3, calls, "the transform must run once per event")
			require.Equal(t, []string{"no"}, failures())
		})
	}
}

// TestTransformThatReturnsNil runs both client-go's informer and this package's with a transform that returns nil
// for Pods on the node "hidden". Both must skip such states of a Pod, but only client-go also skips its deletion.
func TestTransformThatReturnsNil(t *testing.T) {
	for name, create := range map[string]func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer{
		"client-go": cache.NewSharedIndexInformer, "listwatch": NewSharedIndexInformer,
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			informer := create(listerOf(t, server, "pods"), &corev1.Pod{}, 0, nil)
			failures := reportedErrors(t)
			require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
				if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName == "hidden" {
					return nil, nil
				}
				return obj, nil
			}))
			var handler recorder
			_, err := informer.AddEventHandler(&handler)
			require.NoError(t, err)
			stop := start(t, informer)
			waitSynced(t, informer.HasSyncedChecker())
			putPod(t, server, "a", "hidden")
			putPod(t, server, "b", "n1")
			handler.wait(t, "add b@n1 false")
			require.Equal(t, []string{"shop/b"}, informer.GetStore().ListKeys())
			putPod(t, server, "a", "n2")
			putPod(t, server, "a", "hidden")
			putPod(t, server, "b", "n3")
			events := []string{"add b@n1 false", "add a@n2 false", "update b@n1 b@n3"}
			handler.wait(t, events...)
			require.Equal(t, "a@n2", describe(getPod(t, informer, "shop/a")))
			require.NoError(t, server.Delete("pods", "shop", "a"))
			putPod(t, server, "b", "n4")
			if name == "listwatch" {
				events = append(events, "delete a@n2")
			}
			handler.wait(t, append(events, "update b@n3 b@n4")...)
			stop()
			if name == "listwatch" {
				require.Equal(t, slices.Repeat([]string{errNilResult.Error()}, 3), failures())
			}
		})
	}
}

// The store must contain all listed objects, except those for which the transform returns nil. In client-go, a single
// nil makes the whole list fail.
func TestTransformThatReturnsNilDuringList(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	putPod(t, server, "b", "n1")
	informer := podInformer(t, server, nil)
	reportedErrors(t)
	require.NoError(t, informer.SetTransform(func(obj any) (any, error) {
		if obj.(*corev1.Pod).Name == "a" {
			return nil, nil
		}
		return obj, nil
	}))
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	stop := start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	handler.wait(t, "add b@n1 true")
	require.Equal(t, []string{"shop/b"}, informer.GetStore().ListKeys())
	stop()
}

// reportedErrors returns a function that returns the errors passed to utilruntime.HandleError. It replaces the error
// handlers until the test ends.
func reportedErrors(t *testing.T) (all func() []string) {
	var mu sync.Mutex
	var errs []string
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err.Error())
	}}
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return errs
	}
}

// podAndName is the type that transforms return instead of *corev1.Pod.
type podAndName struct {
	corev1.Pod
	name string
}
