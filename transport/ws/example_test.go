//go:build !js

package ws_test

import (
	"context"
	"fmt"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

// Watches use WebSocket, and all other requests use HTTP.
func Example() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	create := func(name string) {
		if _, err := server.Put("pods", `{"metadata":{"name":"`+name+`"}}`); err != nil {
			panic(err)
		}
	}
	create("web-0")
	base, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer base.Close()
	transport := ws.New(base)
	client, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	for event := range lw.ListAndWatch(context.Background(), client, &lw.Options{NoStreamingList: true}) {
		switch event.Type {
		case lw.Added:
			fmt.Println("added", event.Object.GetName())
			if event.Object.GetName() == "web-1" {
				for _, watch := range server.Open(lwtest.Watches) {
					fmt.Println("the watch is a", watch.Header.Get("Upgrade"))
				}
				return
			}
		case lw.WatchStarted:
			create("web-1")
		}
	}
	// Output:
	// added web-0
	// added web-1
	// the watch is a websocket
}
