//go:build !js

package fallback_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
)

// The preferred transport uses WebSocket. A proxy removes the upgrade headers, so watches fall back to HTTP.
func Example() {
	server, err := lwtest.Start(nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if _, err := server.Put("pods", `{"metadata":{"name":"web-0"}}`); err != nil {
		panic(err)
	}
	server.Fail(lwtest.Watches, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Del("Upgrade") // acts like a proxy without WebSocket support
		next.ServeHTTP(w, r)
	})
	base, err := lwhttp.New(server.URL, nil)
	if err != nil {
		panic(err)
	}
	defer base.Close()
	transport := fallback.New(ws.New(base), base)
	client, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
	if err != nil {
		panic(err)
	}
	ctx := lw.WithTrace(context.Background(), &lw.Trace{Switched: func(cause error) { fmt.Println("switched to HTTP:", cause) }})
	for event := range lw.ListAndWatch(ctx, client, nil) {
		switch event.Type {
		case lw.Added:
			fmt.Println("added", event.Object.GetName())
		case lw.WatchStarted:
			return
		}
	}
	// Output:
	// switched to HTTP: http: the server or a proxy does not support the requested protocol: unsupported operation
	// added web-0
}
