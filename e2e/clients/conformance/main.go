// Command conformance is the driver for client-go's informers, this project's adapter, and controller-runtime's cache
// in the conformance suite, which runs it with the arguments URL, RESOURCE and NAMESPACE. docs/conformance.md describes the
// lines that a driver prints.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	adapter "github.com/seed-6d2a410a/listwatch/adapters/clientgo"
)

func main() {
	kind := flag.String("informer", "typed", "typed, dynamic, adapter or controller-runtime")
	module := flag.String("module", "k8s.io/client-go", "path of the client's module, whose version is printed; \"\" for this version")
	flag.Parse()
	// With a CA file, as in a cluster, client-go detects dead HTTP/2 connections. With the system's CAs, it does not.
	config := &rest.Config{Host: flag.Arg(0), TLSClientConfig: rest.TLSClientConfig{CAFile: os.Getenv("SSL_CERT_FILE")}}
	out := json.NewEncoder(os.Stdout)
	printChange := func(kind string, object any) {
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
		for _, dependency := range build.Deps {
			if dependency.Path == *module {
				_ = out.Encode(map[string]string{"type": "CLIENT", "version": dependency.Version})
			}
		}
	}
	informer, run, err := newInformer(config, *kind, flag.Arg(2))
	if err != nil {
		log.Fatal(err)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { printChange("ADDED", object) },
		UpdateFunc: func(old, object any) {
			// A relist also reports objects that have not changed.
			if old.(metav1.Object).GetResourceVersion() != object.(metav1.Object).GetResourceVersion() || old.(metav1.Object).GetUID() != object.(metav1.Object).GetUID() {
				printChange("MODIFIED", object)
			}
		},
		DeleteFunc: func(object any) { printChange("DELETED", object) },
	})
	if err != nil {
		log.Fatal(err)
	}
	run(context.Background())
}

// informer has the method that the informers of client-go, the adapter and controller-runtime share.
type informer interface {
	AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error)
}

// newInformer returns an informer for ConfigMaps, and a function that runs it.
func newInformer(config *rest.Config, kind, namespace string) (informer, func(context.Context), error) {
	inNamespace := informers.WithNamespace(namespace)
	switch kind {
	case "typed":
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, nil, err
		}
		i := informers.NewSharedInformerFactoryWithOptions(client, 0, inNamespace).Core().V1().ConfigMaps().Informer()
		return i, i.RunWithContext, nil
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, nil, err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
		i := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
		return i, i.RunWithContext, nil
	case "adapter":
		factory, err := adapter.NewSharedInformerFactory(config, 0, nil, inNamespace)
		if err != nil {
			return nil, nil, err
		}
		i := factory.Core().V1().ConfigMaps().Informer()
		return i, i.RunWithContext, nil
	case "controller-runtime":
		// With a fixed mapper, controller-runtime need not ask the server for its types.
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
		all, err := ctrlcache.New(config, ctrlcache.Options{Mapper: mapper, DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}}})
		if err != nil {
			return nil, nil, err
		}
		// The caller adds its handler before it starts the cache, so GetInformer must not wait for objects.
		i, err := all.GetInformer(context.Background(), &corev1.ConfigMap{}, ctrlcache.BlockUntilSynced(false))
		return i, func(ctx context.Context) { log.Fatal(all.Start(ctx)) }, err
	}
	return nil, nil, fmt.Errorf("unknown kind of informer %q", kind)
}
