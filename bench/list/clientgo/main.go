// Command clientgo syncs an informer of client-go for bench/list.
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
	"github.com/seed-6d2a410a/listwatch/bench/list/internal/task"
)

func main() {
	task.Main(map[string]func(context.Context, string) task.Held{
		"dynamic":  dynamicInformer,
		"JSON":     typedInformer(runtime.ContentTypeJSON),
		"protobuf": typedInformer(runtime.ContentTypeProtobuf),
	})
}

func dynamicInformer(ctx context.Context, url string) task.Held {
	client := harness.MustGet(dynamic.NewForConfig(&rest.Config{Host: url, QPS: -1}))
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	return follow(ctx, dynamicinformer.NewFilteredDynamicInformer(client, pods, "", 0, cache.Indexers{}, nil).Informer())
}

func typedInformer(mediaType string) func(context.Context, string) task.Held {
	return func(ctx context.Context, url string) task.Held {
		content := rest.ContentConfig{ContentType: mediaType, AcceptContentTypes: mediaType}
		client := harness.MustGet(typedcore.NewForConfig(&rest.Config{Host: url, QPS: -1, ContentConfig: content}))
		pods := cache.NewListWatchFromClient(client.RESTClient(), "pods", "", fields.Everything())
		return follow(ctx, cache.NewSharedIndexInformer(pods, &corev1.Pod{}, 0, cache.Indexers{}))
	}
}

func follow(ctx context.Context, informer cache.SharedIndexInformer) task.Held {
	go informer.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	return task.Held{N: len(informer.GetStore().ListKeys()), By: informer}
}
