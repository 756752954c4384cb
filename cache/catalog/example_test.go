package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// This program prints everything that belongs to a Deployment.
func Example() {
	server, err := lwtest.Start(nil) // a server for tests
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	fill(server)
	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer transport.Close()

	c := catalog.New(transport, nil)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	defer func() { stop(); <-done }()
	var failed *catalog.SyncError
	if err := c.WaitSynced(ctx); errors.As(err, &failed) {
		fmt.Println(err) // the other types are synced
	} else if err != nil {
		log.Fatal(err)
	}

	deployments, err := c.Snapshot().List(catalog.Type{Group: "apps", Resource: "deployments"}, "shop", "app=web")
	if err != nil {
		log.Fatal(err)
	}
	for deployment := range deployments {
		for depth, ref := range c.Snapshot().Tree(deployment) {
			fmt.Printf("%*s%s\n", 2*depth, "", ref)
		}
	}
	// Output:
	// deployments.apps/shop/web
	//   pods/shop/web-0
	//   pods/shop/web-1
}

// fill creates a Deployment with two Pods.
func fill(server *lwtest.Server) {
	deployment, err := server.Put("deployments.apps", map[string]any{"metadata": map[string]any{
		"namespace": "shop", "name": "web", "labels": map[string]any{"app": "web"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"web-0", "web-1"} {
		_, err := server.Put("pods", map[string]any{"metadata": map[string]any{
			"namespace": "shop", "name": name, "ownerReferences": []any{map[string]any{
				"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": deployment.GetUID(),
			}},
		}})
		if err != nil {
			log.Fatal(err)
		}
	}
}
