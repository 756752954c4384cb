package clientgo_test

import (
	"fmt"
	"log"

	"k8s.io/client-go/rest"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func ExampleNewSharedInformerFactory() {
	server, err := lwtest.Start(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"name":"web-0","namespace":"shop"},"spec":{"nodeName":"node-7"}}`); err != nil {
		log.Fatal(err)
	}

	factory, err := clientgo.NewSharedInformerFactory(&rest.Config{Host: server.URL}, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	pods := factory.Core().V1().Pods()
	pods.Informer() // registers the informer with the factory, as in client-go
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	pod, err := pods.Lister().Pods("shop").Get("web-0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pod.Name, "is on", pod.Spec.NodeName)
	close(stop)
	factory.Shutdown()
	// Output: web-0 is on node-7
}
