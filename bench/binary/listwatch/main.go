// Command listwatch prints what happens to all Pods, of the cluster in which it runs or of the server that is its argument.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

func main() {
	server, opts := where()
	transport, err := lwhttp.New(server, opts)
	if err != nil {
		log.Fatal(err)
	}
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	informer := cache.NewInformer(client, nil)
	informer.Handle(cache.Handler[*lw.Object]{
		Added:   func(pod *lw.Object, _ bool) { tell("ADDED", pod) },
		Updated: func(_, pod *lw.Object) { tell("MODIFIED", pod) },
		Deleted: func(pod *lw.Object, _ bool) { tell("DELETED", pod) },
	}, nil)
	log.Fatal(informer.Run(context.Background()))
}

func where() (string, *lwhttp.Options) {
	if len(os.Args) > 1 {
		return os.Args[1], nil
	}
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	address := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	return "https://" + address, &lwhttp.Options{CAFile: account + "ca.crt", TokenFile: account + "token"}
}

func tell(what string, pod *lw.Object) {
	fmt.Println(what, pod.GetNamespace(), pod.GetName(), pod.Get("status.phase"))
}
