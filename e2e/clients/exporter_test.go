package clients

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/examples/clientgo/exporter/clientgo"
	"github.com/seed-6d2a410a/listwatch/examples/clientgo/exporter/listwatch"
)

// exporters contains the implementations of the exporter in docs/migration.md.
var exporters = map[string]func(context.Context, connection, net.Listener) error{
	"clientgo": func(ctx context.Context, c connection, listener net.Listener) error {
		return clientgo.Run(ctx, c.clientset, listener)
	},
	"listwatch": func(ctx context.Context, c connection, listener net.Listener) error {
		return listwatch.Run(ctx, c.transport, listener)
	},
}

// get returns the status code and the body of a response. If the request fails, it returns 0 and the error message.
func get(url string) (code int, text string) {
	response, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

const (
	onNode1 = `,"spec":{"nodeName":"node-1"},"status":{"phase":"Running","containerStatuses":[` +
		`{"name":"app","restartCount":2},{"name":"proxy","restartCount":0}]}`
	pending = `,"status":{"phase":"Pending"}`
	first   = `
pod_container_restarts_total{namespace="shop",pod="web-0",container="app"} 2
pod_container_restarts_total{namespace="shop",pod="web-0",container="proxy"} 0
pods{namespace="shop",node="",phase="Pending"} 2
pods{namespace="shop",node="node-1",phase="Running"} 1
`
	updated = `
pod_container_restarts_total{namespace="shop",pod="web-0",container="app"} 3
pod_container_restarts_total{namespace="shop",pod="web-0",container="proxy"} 0
pods{namespace="shop",node="",phase="Pending"} 1
pods{namespace="shop",node="node-1",phase="Running"} 1
`
	relisted = `
pods{namespace="shop",node="",phase="Pending"} 1
pods{namespace="shop",node="",phase="Succeeded"} 1
`
)

// readyDuringOutage contains the status code of /readyz during an outage. Only listwatch reports that data is stale.
var readyDuringOutage = map[string]int{"clientgo": http.StatusOK, "listwatch": http.StatusServiceUnavailable}

// TestExporter checks that both implementations serve the same metrics, even after an outage that requires a relist.
func TestExporter(t *testing.T) {
	for name, run := range exporters {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // this test mostly waits for client-go
			server := startServer(t)
			put(t, server, "pods", "web-0", "web", onNode1)
			put(t, server, "pods", "web-1", "web", pending)
			put(t, server, "pods", "web-2", "web", pending)
			start := server.Fail(nil, -1, unavailable)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			url := "http://" + listener.Addr().String()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- run(ctx, connect(t, server.URL), listener) }()

			eventually(t, func() bool { return len(server.Requests(nil)) > 0 })
			code, _ := get(url + "/readyz")
			require.Equal(t, http.StatusServiceUnavailable, code)
			start()
			ready := func(want int) { eventually(t, func() bool { code, _ := get(url + "/readyz"); return code == want }) }
			ready(http.StatusOK)
			serves := func(want string) {
				t.Helper()
				eventually(t, func() bool { _, text := get(url + "/metrics"); return text == strings.TrimPrefix(want, "\n") })
			}
			serves(first)

			put(t, server, "pods", "web-0", "web", strings.Replace(onNode1, "2", "3", 1))
			require.NoError(t, server.Delete("pods", "shop", "web-1"))
			serves(updated)
			outage(t, server, func() {
				ready(readyDuringOutage[name])
				require.NoError(t, server.Delete("pods", "shop", "web-0"))
				put(t, server, "pods", "web-3", "web", `,"status":{"phase":"Succeeded"}`)
			})
			serves(relisted)
			ready(http.StatusOK)

			stop()
			require.ErrorIs(t, <-ended, context.Canceled)
			code, _ = get(url + "/readyz")
			require.Zero(t, code)
			eventually(t, func() bool { return len(server.Open(nil)) == 0 }) // waits until the server has noticed the closed watches
		})
	}
}
