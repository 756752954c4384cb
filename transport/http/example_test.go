//go:build !js

package http_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// This example lists the Pods of a namespace from an in-process server.
func Example() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	for _, name := range []string{"web-0", "web-1"} {
		_, err = server.Put("pods", `{"metadata":{"namespace":"shop","name":"`+name+`"},"status":{"phase":"Running"}}`)
		if err != nil {
			panic(err)
		}
	}

	transport, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods("shop"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, nil) {
		if event.Type == lw.Added {
			fmt.Println(lw.KeyOf(event.Object), event.Object.Get("status.phase"))
		}
		if event.Type == lw.Synced {
			break // a program could continue and receive changes
		}
	}
	// Output:
	// shop/web-0 Running
	// shop/web-1 Running
}
