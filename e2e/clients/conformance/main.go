// Command conformance is the driver for client-go's informers in the conformance suite.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"runtime/debug"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	typed := flag.Bool("typed", false, "use the typed informer instead of the dynamic informer")
	flag.Parse()
	config := &rest.Config{Host: flag.Arg(0)}
	out := json.NewEncoder(os.Stdout)
	printed := func(kind string, object any) {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = unknown.Obj
		}
		o := object.(metav1.Object)
		line := map[string]string{"type": kind, "key": o.GetNamespace() + "/" + o.GetName(), "resourceVersion": o.GetResourceVersion(), "uid": string(o.GetUID())}
		if err := out.Encode(line); err != nil {
			log.Fatal(err)
		}
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "k8s.io/client-go" {
				_ = out.Encode(map[string]string{"type": "CLIENT", "version": module.Version})
			}
		}
	}
	informer := newInformer(config, *typed, flag.Arg(1), flag.Arg(2))
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { printed("ADDED", object) },
		UpdateFunc: func(old, object any) {
			// A relist also reports objects that have not changed.
			if old.(metav1.Object).GetResourceVersion() != object.(metav1.Object).GetResourceVersion() || old.(metav1.Object).GetUID() != object.(metav1.Object).GetUID() {
				printed("MODIFIED", object)
			}
		},
		DeleteFunc: func(object any) { printed("DELETED", object) },
	})
	if err != nil {
		log.Fatal(err)
	}
	informer.Run(make(chan struct{}))
}

func newInformer(config *rest.Config, typed bool, resource, namespace string) cache.SharedIndexInformer {
	if typed {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			log.Fatal(err)
		}
		return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace)).Core().V1().ConfigMaps().Informer()
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	return factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Informer()
}
