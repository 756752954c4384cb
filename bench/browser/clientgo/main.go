//go:build js

// Command clientgo runs a client-go informer in a web page, which calls followPods. It creates the informer without a
// factory to keep the WASM module small.
package main

import (
	"context"
	"strconv"
	"syscall/js"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	js.Global().Set("followPods", js.FuncOf(func(_ js.Value, args []js.Value) any {
		go follow(args[0].String(), args[1], args[2])
		return nil
	}))
	select {}
}

// follow runs an informer of Pods. After the first list, it calls synced with two functions: size returns the number of
// Pods, and touch reads the name of each Pod. It calls seen with the resourceVersion of each added or modified Pod.
func follow(server string, synced, seen js.Value) {
	client, err := dynamic.NewForConfig(&rest.Config{Host: server, QPS: -1})
	if err != nil {
		panic(err)
	}
	pods := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, o)
		},
	}, &unstructured.Unstructured{}, 0, nil)
	handle := func(object any) {
		version, _ := strconv.Atoi(object.(*unstructured.Unstructured).GetResourceVersion())
		seen.Invoke(version)
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, object any) { handle(object) },
	})
	if err != nil {
		panic(err)
	}
	go informer.Run(nil)
	cache.WaitForCacheSync(nil, registration.HasSynced)
	size := js.FuncOf(func(js.Value, []js.Value) any { return len(informer.GetStore().ListKeys()) })
	touch := js.FuncOf(func(js.Value, []js.Value) any {
		length := 0
		for _, pod := range informer.GetStore().List() {
			length += len(pod.(*unstructured.Unstructured).GetName())
		}
		return length
	})
	synced.Invoke(size, touch)
}
