// Command clientgo prints the changes of all Pods with client-go's dynamic informer. Command binary compares its size with
// that of the same program for listwatch. The argument is the server's URL. Without an argument, the program connects to
// the cluster in which it runs.
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
	config, err := server()
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
		AddFunc:    func(pod any) { printPod("ADDED", pod) },
		UpdateFunc: func(_, pod any) { printPod("MODIFIED", pod) },
		DeleteFunc: func(pod any) {
			if gone, ok := pod.(cache.DeletedFinalStateUnknown); ok { // the informer noticed the deletion in a relist
				pod = gone.Obj
			}
			printPod("DELETED", pod)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	informer.RunWithContext(context.Background())
}

func server() (*rest.Config, error) {
	if len(os.Args) > 1 {
		return &rest.Config{Host: os.Args[1]}, nil
	}
	return rest.InClusterConfig()
}

func printPod(event string, object any) {
	pod := object.(*unstructured.Unstructured)
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	fmt.Println(event, pod.GetNamespace(), pod.GetName(), phase)
}
