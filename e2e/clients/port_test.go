package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/seed-6d2a410a/listwatch/examples/clientgo/port/clientgo"
	"github.com/seed-6d2a410a/listwatch/examples/clientgo/port/listwatch"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// controllers contains the implementations of the controller in examples/clientgo/port.
var controllers = map[string]func(context.Context, string, time.Duration, func(string) error) error{
	"clientgo":  clientgo.Run,
	"listwatch": listwatch.Run,
}

// reports stores the latest report that a controller sent for each app. It rejects the first report for each app to
// force a retry.
type reports struct {
	mu    sync.Mutex
	last  map[string]string // latest accepted report by app
	count map[string]int
}

func (r *reports) report(line string) error {
	app, state, _ := strings.Cut(line, ": ")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count[app]++; r.count[app] == 1 {
		return errors.New("the report was lost")
	}
	r.last[app] = state
	return nil
}

func (r *reports) is(app, state string) func() bool {
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.last[app] == state
	}
}

// reported returns a condition that is true after the app's next n reports.
func (r *reports) reported(app string, n int) func() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted := r.count[app] + n
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.count[app] >= wanted
	}
}

// serveTLS starts an embedded server behind TLS and HTTP/2 that accepts only the token "secret". It returns the server
// and the path of a kubeconfig.
func serveTLS(t *testing.T) (server *lwtest.Server, path string) {
	server, err := lwtest.Start(&lwtest.Options{Tokens: []string{"secret"}})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	front := httptest.NewUnstartedServer(server)
	front.EnableHTTP2 = true
	front.StartTLS()
	t.Cleanup(front.Close)
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: front.URL, CertificateAuthorityData: pemOf(front.Certificate())}
	config.AuthInfos["test"] = &api.AuthInfo{Token: "secret"}
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path = filepath.Join(t.TempDir(), "config")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return server, path
}

func put(t *testing.T, server *lwtest.Server, resource, name, app, rest string) {
	t.Helper()
	metadata := `"metadata":{"namespace":"shop","name":"` + name + `","labels":{"app":"` + app + `"}}`
	require.True(t, json.Valid([]byte("{"+metadata+rest+"}")))
	_, err := server.Put(resource, "{"+metadata+rest+"}")
	require.NoError(t, err)
}

// TestPort checks that both implementations send the same reports, and send no report after Run has returned.
func TestPort(t *testing.T) {
	for name, run := range controllers {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // this test mostly waits for client-go
			server, path := serveTLS(t)
			running, pending := `,"status":{"phase":"Running"}`, `,"status":{"phase":"Pending"}`
			put(t, server, "pods", "web-0", "web", running)
			put(t, server, "deployments.apps", "web", "web", `,"spec":{"replicas":2}`)
			r := &reports{last: map[string]string{}, count: map[string]int{}}
			ctx, lose := context.WithCancelCause(t.Context())
			ended := make(chan error)
			go func() { ended <- run(ctx, path, time.Second, r.report) }()
			eventually(t, r.is("shop/web", "1 of 2 Pods, Service false"))

			put(t, server, "services", "web", "web", "")
			put(t, server, "pods", "web-1", "web", pending)
			eventually(t, r.is("shop/web", "1 of 2 Pods, Service true"))
			put(t, server, "pods", "web-1", "web", running)
			eventually(t, r.is("shop/web", "2 of 2 Pods, Service true"))
			put(t, server, "pods", "web-0", "db", running) // moves the Pod from the app "web" to the app "db"
			eventually(t, r.is("shop/web", "1 of 2 Pods, Service true"))
			eventually(t, r.is("shop/db", "1 of 0 Pods, Service false"))
			require.NoError(t, server.Delete("pods", "shop", "web-1"))
			eventually(t, r.is("shop/web", "0 of 2 Pods, Service true"))
			eventually(t, r.reported("shop/web", 2)) // each resync repeats the report

			lost := errors.New("the lease is lost")
			lose(lost)
			require.Equal(t, lost, <-ended)
			late := r.reported("shop/web", 1)
			eventually(t, func() bool { return len(server.Open(nil)) == 0 }) // waits until the server has noticed the closed watches
			put(t, server, "pods", "web-2", "web", running)
			require.False(t, late(), "Run must not send reports after it has returned")
		})
	}
}
