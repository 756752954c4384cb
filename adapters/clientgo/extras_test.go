package clientgo

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func podInformerWith(t *testing.T, server *lwtest.Server, extras Extras) cache.SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(listerOf(t, server, "pods"), &corev1.Pod{}, InformerOptions{Extras: extras})
}

func putLabeledPod(t *testing.T, server *lwtest.Server, name string) {
	_, err := server.Put("pods", fmt.Sprintf(
		`{"metadata":{"name":%q,"namespace":"shop","labels":{"app":"web"},"annotations":{"long":%q}},"spec":{"nodeName":"n1","hostname":"h"}}`,
		name, strings.Repeat("text ", 200)))
	require.NoError(t, err)
}

func getPod(t *testing.T, informer cache.SharedIndexInformer, key string) *corev1.Pod {
	found, ok, err := informer.GetStore().GetByKey(key)
	require.NoError(t, err)
	require.True(t, ok)
	return found.(*corev1.Pod)
}

func TestKeepsOnlySelectedFields(t *testing.T) {
	server := startServer(t)
	putLabeledPod(t, server, "a")
	of := func(paths ...string) Extras {
		return Extras{Fields: func(example runtime.Object) []string {
			require.IsType(t, &corev1.Pod{}, example)
			return paths
		}}
	}
	informer := podInformerWith(t, server, of("metadata.labels", "spec.nodeName"))
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	pod := getPod(t, informer, "shop/a")
	require.Equal(t, corev1.PodSpec{NodeName: "n1"}, pod.Spec)
	require.Equal(t, map[string]string{"app": "web"}, pod.Labels)
	require.Empty(t, pod.Annotations)
	require.NotEmpty(t, pod.ResourceVersion)
	protobuf, _ := protobufRequests(server)
	require.Zero(t, protobuf)
	whole := podInformerWith(t, server, of())
	start(t, whole)
	waitSynced(t, whole.HasSyncedChecker())
	require.NotEmpty(t, getPod(t, whole, "shop/a").Annotations)
	require.Panics(t, func() { podInformerWith(t, server, of("spec[")) })
}

// TestCompress checks that objects are stored compressed, and that they decode to the same objects as without
// compression, even after a relist.
func TestCompress(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	for n := range 40 {
		putLabeledPod(t, server, fmt.Sprint("pod-", n))
	}
	plain := podInformer(t, server, nil)
	informer := podInformerWith(t, server, Extras{Compress: true})
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	for _, i := range []cache.SharedIndexInformer{plain, informer} {
		require.NoError(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		start(t, i)
		waitSynced(t, i.HasSyncedChecker())
	}
	server.Close()
	server.Compact()
	require.NoError(t, server.Restart())
	putLabeledPod(t, server, "last")
	eventually(t, func() bool { return len(handler.all()) == 41 && len(plain.GetStore().ListKeys()) == 41 })
	for _, key := range plain.GetStore().ListKeys() {
		require.Equal(t, getPod(t, plain, key), getPod(t, informer, key))
	}
	o, ok := informer.(*informerType).inner.Store().Get(lw.Key{Namespace: "shop", Name: "last"})
	require.True(t, ok)
	require.IsType(t, packed{}, o.encoded)
}

func TestTraceReceivesEvents(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	var synced, requests atomic.Int32
	informer := podInformerWith(t, server, Extras{Trace: func(collection string) *lw.Trace {
		require.Equal(t, "/api/v1/pods", collection)
		return &lw.Trace{Event: func(e lw.Event[lw.Keyed]) {
			if e.Type == lw.Synced {
				synced.Add(1)
			}
		}, Open: func(*lw.Request) { requests.Add(1) }}
	}})
	stop := start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	stop()
	require.EqualValues(t, 1, synced.Load())
	require.EqualValues(t, len(server.Requests(nil)), requests.Load())
	none := podInformerWith(t, server, Extras{Trace: func(string) *lw.Trace { return nil }})
	start(t, none)
	waitSynced(t, none.HasSyncedChecker())
}

// TestQueueCapacity blocks a handler for an hour. The queue must stay within its capacity, and no event may be
// lost.
func TestQueueCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		correct := hostile.All()[0]
		server := correct.Start()
		clientset := simulatedClient(t, server, protobufConfig("http://simulated"))
		from := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", "shop", fields.Everything())
		informer := NewSharedIndexInformerWithOptions(from, &corev1.ConfigMap{}, InformerOptions{Extras: Extras{QueueCapacity: 5}})
		trial := &trial{T: t, server: correct, values: map[string]string{}, versions: map[string]int{}}
		goOn := make(chan struct{})
		handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				<-goOn
				trial.OnAdd(obj, false)
			},
			UpdateFunc: trial.OnUpdate, DeleteFunc: trial.OnDelete,
		})
		require.NoError(t, err)
		stop := start(t, informer)
		for range 60 {
			server.Step()
			time.Sleep(time.Minute)
			require.LessOrEqual(t, handler.(*registration).Len(), 5)
		}
		close(goOn)
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		require.True(t, trial.equals(server, informer))
		stop()
	})
}

// TestUnchangedObjectsAreKept checks that a JSON list reuses stored objects. An object whose JSON differs must be
// decoded even if its resourceVersion is the same.
func TestUnchangedObjectsAreKept(t *testing.T) {
	for name, extras := range map[string]Extras{
		"all fields": {},
		"one field":  {Fields: func(runtime.Object) []string { return []string{"metadata.labels"} }},
		"compressed": {Compress: true},
	} {
		t.Run(name, func(t *testing.T) {
			clientset := simulatedClient(t, onePod{http.Header{}}, &rest.Config{Host: "http://simulated"})
			from := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
			informer := NewSharedIndexInformerWithOptions(from, &corev1.Pod{}, InformerOptions{Extras: extras}).(*informerType)
			source := &client{informer: informer}
			list := func(stored *object) *object { return listStored(t, source, stored) }
			first := list(nil)
			require.Same(t, first, list(first))
			other, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","namespace":"shop","uid":"1","resourceVersion":"5","labels":{"app":"web"}}}`))
			require.NoError(t, err)
			require.Equal(t, first.Raw(), list(&object{encoded: other}).Raw())
		})
	}
}
