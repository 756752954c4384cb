// Command clientgo prints what happens to all Pods, of the cluster in which it runs or of the server that is its argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	config, err := where()
	if err != nil {
		log.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { tell("ADDED", pod) },
		UpdateFunc: func(_, pod any) { tell("MODIFIED", pod) },
		DeleteFunc: func(pod any) {
			if gone, ok := pod.(cache.DeletedFinalStateUnknown); ok {
				pod = gone.Obj
			}
			tell("DELETED", pod)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	informer.RunWithContext(context.Background())
}

func where() (*rest.Config, error) {
	if len(os.Args) > 1 {
		return &rest.Config{Host: os.Args[1]}, nil
	}
	return rest.InClusterConfig()
}

func tell(what string, object any) {
	pod := object.(*unstructured.Unstructured)
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	fmt.Println(what, pod.GetNamespace(), pod.GetName(), phase)
}
