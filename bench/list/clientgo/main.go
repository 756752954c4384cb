// Command clientgo syncs client-go's informer for bench/list, which starts it as a worker. In one program for
// all informers, client-go's schemes and protobuf tables would count as memory of listwatch, too.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

func main() {
	harness.Work(
		harness.Worker("dynamic", func(url string) harness.Figures { return sync(url, dynamicInformer) }),
		harness.Worker("JSON", func(url string) harness.Figures { return sync(url, typedInformer(runtime.ContentTypeJSON)) }),
		harness.Worker("protobuf", func(url string) harness.Figures { return sync(url, typedInformer(runtime.ContentTypeProtobuf)) }),
	)
}

func dynamicInformer(url string) cache.SharedIndexInformer {
	client := harness.MustGet(dynamic.NewForConfig(&rest.Config{Host: url, QPS: -1}))
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	return dynamicinformer.NewFilteredDynamicInformer(client, pods, "", 0, cache.Indexers{}, nil).Informer()
}

func typedInformer(mediaType string) func(url string) cache.SharedIndexInformer {
	return func(url string) cache.SharedIndexInformer {
		content := rest.ContentConfig{ContentType: mediaType, AcceptContentTypes: mediaType}
		client := harness.MustGet(typedcore.NewForConfig(&rest.Config{Host: url, QPS: -1, ContentConfig: content}))
		pods := cache.NewListWatchFromClient(client.RESTClient(), "pods", "", fields.Everything())
		return cache.NewSharedIndexInformer(pods, &corev1.Pod{}, 0, cache.Indexers{})
	}
}

// sync measures an informer from its creation until it has synced.
func sync(url string, newInformer func(url string) cache.SharedIndexInformer) harness.Figures {
	ctx, began := context.Background(), harness.CPUTime()
	informer := newInformer(url)
	go informer.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	cpu, peak := harness.CPUTime()-began, harness.PeakRSS()
	return harness.Figures{"CPU time": cpu.Seconds(), "peak RSS": peak / 1e6, "objects": float64(len(informer.GetStore().ListKeys()))}
}
