package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// Names of the measured quantities.
const (
	syncCPU       = "CPU to sync, ms"
	peakRSS       = "peak RSS while syncing, MB"
	heap          = "heap after sync, MB"
	heapAfterList = "heap after a full List, MB"
	perEvent      = "CPU per event, µs"
	perGet        = "CPU per Get of a decoded object, µs"
	firstList     = "CPU per object of the first List, µs"
	nextList      = "CPU per object of the next List, µs"
)

// task is the input for a process that measures one cache.
type task struct {
	Server                           serve.Address
	Pods                             int
	Listwatch, Unstructured, Handler bool          // whether to use listwatch's cache, unstructured Pods, and a handler
	JSON                             bool          // whether typed Pods arrive as JSON, like custom resources
	Period                           time.Duration // time between two full lists
	Cycles                           int           // number of informers that are created and removed
	Kubeconfig                       string        // content of a kubeconfig for a kube-apiserver; if set, Server is not used
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

// measure measures one cache: the sync, events, and reads.
func measure(t task) harness.Figures {
	ctx, found := context.Background(), harness.Figures{}
	before := harness.Heap()
	began := harness.CPUTime()
	c := t.start(ctx)
	object, _ := t.objects()
	informer := harness.MustGet(c.GetInformer(ctx, object, cache.BlockUntilSynced(false)))
	var received atomic.Int64
	synced := informer.HasSynced
	if t.Handler {
		count := func(any) { received.Add(1) }
		synced = harness.MustGet(informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: count, UpdateFunc: func(_, obj any) { count(obj) },
		})).HasSynced
	}
	harness.Until(func() bool { return informer.HasSynced() && synced() })
	found[syncCPU] = float64(harness.CPUTime()-began) / 1e6
	found[peakRSS] = harness.PeakRSS() / 1e6
	found[heap] = (harness.Heap() - before) / 1e6

	events := 2 * t.Pods // each Pod changes twice
	last := fmt.Sprint(serve.First + events)
	found[perEvent] = harness.CPUPer(events, func() {
		t.Server.Order(events)
		shared := informer.(toolscache.SharedIndexInformer)
		harness.Until(func() bool { return shared.LastSyncResourceVersion() == last })
		harness.Until(func() bool { return !t.Handler || received.Load() == int64(t.Pods+events) })
	}) / 1e3

	// The first List is measured separately, because a cache may decode an object only when it is first read.
	list := func() {
		_, all := t.objects()
		harness.Must(c.List(ctx, all))
	}
	runtime.GC()
	found[firstList] = harness.CPUPer(t.Pods, list) / 1e3
	lists, gets := 10, 10*t.Pods // enough to trigger several garbage collections
	found[nextList] = harness.CPUPer(lists*t.Pods, func() {
		for range lists {
			list()
		}
	}) / 1e3
	first := sample.Pods(serve.Seed, 1)[0]
	key := client.ObjectKey{Namespace: first.Namespace, Name: first.Name}
	found[perGet] = harness.CPUPer(gets, func() {
		for range gets {
			into, _ := t.objects()
			harness.Must(c.Get(ctx, key, into))
		}
	}) / 1e3
	list() // so that the heap contains the memory that a List leaves behind
	// A single garbage collection, unlike the five of harness.Heap, also counts memory that is only kept for a while, for
	// example in a sync.Pool.
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	found[heapAfterList] = (float64(stats.HeapAlloc) - before) / 1e6
	runtime.KeepAlive(c)
	return found
}

// start starts a cache without informers. WaitForCacheSync therefore only waits until the cache has started. The
// RESTMapper is static, so the cache sends no discovery requests.
func (t task) start(ctx context.Context) cache.Cache {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	newCache, opts := cache.New, cache.Options{Mapper: mapper}
	if t.Listwatch {
		newCache = listwatch.Options{DropManagedFields: true}.NewCache
	} else {
		opts.DefaultTransform = cache.TransformStripManagedFields()
	}
	config := &rest.Config{Host: t.Server.URL}
	if t.JSON {
		config.ContentType = apiruntime.ContentTypeJSON
	}
	if t.Kubeconfig != "" {
		config = harness.MustGet(clientcmd.RESTConfigFromKubeConfig([]byte(t.Kubeconfig)))
	}
	c := harness.MustGet(newCache(config, opts))
	go func() { harness.Must(c.Start(ctx)) }()
	if !c.WaitForCacheSync(ctx) {
		panic("the cache did not sync")
	}
	return c
}
