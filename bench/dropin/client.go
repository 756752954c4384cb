package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// task is the input of a process that measures one cache.
type task struct {
	URL                              string
	Pods                             int
	Listwatch, Unstructured, Handler bool
	Kubeconfig                       string // content of a kubeconfig for a kube-apiserver; replaces URL
}

// objects returns an empty Pod and an empty PodList, typed or unstructured.
func (t task) objects() (client.Object, client.ObjectList) {
	if !t.Unstructured {
		return &corev1.Pod{}, &corev1.PodList{}
	}
	object, list := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	return object, list
}

func measure(t task) (r result) {
	ctx := context.Background()
	before := harness.Heap()
	began := harness.CPUTime()
	c := t.start(ctx)
	object, _ := t.objects()
	informer := harness.MustGet(c.GetInformer(ctx, object, cache.BlockUntilSynced(false)))
	var received atomic.Int64
	var handled toolscache.ResourceEventHandlerRegistration
	if t.Handler {
		count := func(any) { received.Add(1) }
		handled = harness.MustGet(informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: count, UpdateFunc: func(_, obj any) { count(obj) },
		}))
	}
	until(func() bool { return informer.HasSynced() && (handled == nil || handled.HasSynced()) })
	r.SyncCPU = float64(harness.CPUTime() - began)
	r.PeakRSS = harness.PeakRSS()
	r.Heap = harness.Heap() - before

	events := 2 * t.Pods
	last := fmt.Sprint(firstEvent + events - 1)
	r.PerEvent = harness.CPUPer(events, func() {
		response := harness.MustGet(http.Get(fmt.Sprintf("%s/events?n=%d", t.URL, events)))
		harness.Must(response.Body.Close())
		shared := informer.(toolscache.SharedIndexInformer)
		until(func() bool { return shared.LastSyncResourceVersion() == last })
		until(func() bool { return !t.Handler || received.Load() == int64(t.Pods+events) })
	})

	list := func() {
		_, all := t.objects()
		harness.Must(c.List(ctx, all))
	}
	runtime.GC()
	r.ColdList = harness.CPUPer(t.Pods, list)
	lists, gets := 10, 10*t.Pods // enough to run the garbage collector several times
	r.List = harness.CPUPer(lists*t.Pods, func() {
		for range lists {
			list()
		}
	})
	first := sample.Pods(seed, 1)[0]
	key := client.ObjectKey{Namespace: first.Namespace, Name: first.Name}
	r.Get = harness.CPUPer(gets, func() {
		for range gets {
			into, _ := t.objects()
			harness.Must(c.Get(ctx, key, into))
		}
	})
	list()
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	r.HeapAfterList = float64(stats.HeapAlloc) - before
	runtime.KeepAlive(c)
	return r
}

// start starts a cache and waits until it has synced. The RESTMapper is static, so the cache sends no discovery
// requests.
func (t task) start(ctx context.Context) cache.Cache {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	newCache, opts := cache.New, cache.Options{Mapper: mapper}
	if t.Listwatch {
		newCache = listwatch.Options{DropManagedFields: true}.NewCache
	} else {
		opts.DefaultTransform = cache.TransformStripManagedFields()
	}
	c := harness.MustGet(newCache(t.config(), opts))
	go func() { harness.Must(c.Start(ctx)) }()
	if !c.WaitForCacheSync(ctx) {
		panic("the cache did not sync")
	}
	return c
}

func until(condition func() bool) {
	for !condition() {
		time.Sleep(time.Millisecond)
	}
}
