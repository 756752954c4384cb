// Command listwatch prints the changes to all Pods with listwatch's informer. bench/binary compares its size with the
// equivalent program that uses client-go. The argument is the server's URL. Without an argument, the program connects to the
// cluster in which it runs.
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
	url, opts := server()
	transport, err := lwhttp.New(url, opts)
	if err != nil {
		log.Fatal(err)
	}
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	informer := cache.NewInformer(client, nil)
	informer.Handle(cache.Handler[*lw.Object]{
		Added:    func(pod *lw.Object, _ bool) { printPod("ADDED", pod) },
		Modified: func(_, pod *lw.Object) { printPod("MODIFIED", pod) },
		Deleted:  func(pod *lw.Object, _ bool) { printPod("DELETED", pod) },
	}, nil)
	log.Fatal(informer.Run(context.Background()))
}

func server() (string, *lwhttp.Options) {
	if len(os.Args) > 1 {
		return os.Args[1], nil
	}
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	address := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	return "https://" + address, &lwhttp.Options{CAFile: account + "ca.crt", TokenFile: account + "token"}
}

func printPod(event string, pod *lw.Object) {
	fmt.Println(event, pod.GetNamespace(), pod.GetName(), pod.Get("status.phase"))
}
