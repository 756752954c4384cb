// Command service reports the Pods of a node from its store, without a request to the API server.
// docs/tutorials/go-service.md explains the program.
//
//	go run ./examples/service
//	curl http://127.0.0.1:8080/nodes/NODE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/kubeconfig"
)

func main() {
	server := flag.String("server", "", "URL of the API server; if empty, the URL that kubectl uses")
	flag.Parse()
	client, err := connect(*server)
	if err != nil {
		log.Fatal(err)
	}
	reflector := cache.NewReflector(client, &lw.Options{StopOn: lw.IsPermanent})
	var live atomic.Bool
	go func() { log.Fatal(follow(context.Background(), reflector, &live)) }()
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", handler(reflector.Store(), &live)))
}

func open(server string) (lw.Transport, error) {
	if server != "" {
		return lwhttp.New(server, nil)
	}
	config, err := kubeconfig.Load(nil)
	if err != nil {
		return nil, err
	}
	return config.Transport()
}

func connect(server string) (*lw.Client[*lw.Object], error) {
	transport, err := open(server)
	if err != nil {
		return nil, err
	}
	fields, err := lw.Project("spec.nodeName", "status.phase")
	if err != nil {
		return nil, err
	}
	return lw.NewClient(transport, lw.Pods(""), fields, nil)
}

func follow(ctx context.Context, reflector *cache.Reflector[*lw.Object], live *atomic.Bool) error {
	for event := range reflector.Changes(ctx) {
		switch event.Type {
		case lw.Synced, lw.WatchStarted:
			live.Store(true)
		case lw.Interrupted:
			live.Store(false)
			if event.Interruption.Final {
				return event.Interruption.Err
			}
		}
	}
	return errors.Join(errors.New("the stream ended"), context.Cause(ctx))
}

func handler(store *cache.Store[*lw.Object], live *atomic.Bool) http.Handler {
	byNode := cache.NewIndex(store, cache.ByField("spec.nodeName"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /nodes/{node}", func(w http.ResponseWriter, r *http.Request) {
		for pod := range byNode.All(r.PathValue("node")) {
			fmt.Fprintln(w, pod.Key(), pod.Get("status.phase"))
		}
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !live.Load() {
			http.Error(w, "the Pods may be out of date", http.StatusServiceUnavailable)
		}
	})
	return mux
}
