package clientgo_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// The factory follows one namespace and keeps only the labels and the node of each Pod.
func ExampleFactoryOptions() {
	server, err := lwtest.Start(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	for _, namespace := range []string{"shop", "elsewhere"} {
		pod := `{"metadata":{"name":"web-0","namespace":"` + namespace + `"},"spec":{"nodeName":"node-7","hostname":"web"}}`
		if _, err := server.Put("pods", pod); err != nil {
			log.Fatal(err)
		}
	}

	factory, err := clientgo.NewDynamicSharedInformerFactory(&rest.Config{Host: server.URL}, 0, &clientgo.FactoryOptions{
		Namespace: "shop",
		Extras: clientgo.Extras{Fields: func(runtime.Object) []string {
			return []string{"metadata.labels", "spec.nodeName"}
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	pods := factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	pod, err := pods.Lister().ByNamespace("shop").Get("web-0")
	if err != nil {
		log.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pods.Informer().GetStore().ListKeys(), content["spec"])
	close(stop)
	factory.Shutdown()
	// Output: [shop/web-0] map[nodeName:node-7]
}

// An informer for an existing ListerWatcher needs a clientset with a wrapped HTTP client. This informer finds Pods
// by node and queues at most one pending change per Pod for a slow handler.
func ExampleInformerOptions() {
	server, err := lwtest.Start(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"name":"web-0","namespace":"shop"},"spec":{"nodeName":"node-7"}}`); err != nil {
		log.Fatal(err)
	}

	clientset, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: server.URL}, clientgo.WrapHTTPClient(&http.Client{}))
	if err != nil {
		log.Fatal(err)
	}
	lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "shop", fields.Everything())
	informer := clientgo.NewSharedIndexInformerWithOptions(lister, &corev1.Pod{}, clientgo.InformerOptions{
		Indexers: cache.Indexers{"node": func(pod any) ([]string, error) { return []string{pod.(*corev1.Pod).Spec.NodeName}, nil }},
		Extras:   clientgo.Extras{CoalesceEvents: true},
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	keys, err := informer.GetIndexer().IndexKeys("node", "node-7")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keys)
	stop()
	<-ended
	// Output: [shop/web-0]
}
