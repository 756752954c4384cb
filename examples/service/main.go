// Command service reports the Pods on a node from its store, without a request to the API server.
// docs/tutorials/go-service.md explains the program.
//
//	go run ./examples/service
//	curl http://127.0.0.1:8080/nodes/NODE
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

func main() {
	server := flag.String("server", "", "URL of the API server; if empty, the URL that kubectl uses")
	flag.Parse()
	client, err := connect(*server)
	if err != nil {
		log.Fatal(err)
	}
	pods := cache.NewInformer(client, &lw.Options{StopOn: lw.IsPermanent})
	go func() { log.Fatal(pods.Run(context.Background())) }()
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", handler(pods)))
}

func connect(server string) (*lw.Client[*lw.Object], error) {
	transport, _, err := kubeconfig.Connect(&kubeconfig.Options{Server: server})
	if err != nil {
		return nil, err
	}
	fields, err := lw.Project("spec.nodeName", "status.phase")
	if err != nil {
		return nil, err
	}
	return lw.NewClient(transport, lw.Pods(""), fields, nil)
}

func handler(pods *cache.Informer[*lw.Object]) http.Handler {
	byNode := cache.NewIndex(pods.Store(), cache.ByField("spec.nodeName"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /nodes/{node}", func(w http.ResponseWriter, r *http.Request) {
		for _, pod := range byNode.List(r.PathValue("node")) {
			fmt.Fprintln(w, lw.KeyOf(pod), pod.Get("status.phase"))
		}
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if state := pods.State(); state.Phase != lw.Live {
			http.Error(w, fmt.Sprintf("the Pods are %v since %v: %v", state.Phase, state.Since, state.Cause), http.StatusServiceUnavailable)
		}
	})
	return mux
}
