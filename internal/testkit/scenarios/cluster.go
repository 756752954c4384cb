// Package scenarios contains tests that every API server must pass. They run against both lwtest's embedded server
// and a real kube-apiserver, to check that both behave alike.
package scenarios

import (
	"context"
	"net/http"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

// Cluster is a server under test.
type Cluster struct {
	// URL is the server's URL. Connect returns the options of a transport that sends the given bearer token.
	URL     string
	Connect func(token string) *lwhttp.Options

	Client      *http.Client // sends the requests of the scenarios
	AdminToken  string       // bearer token with all permissions
	NobodyToken string       // valid bearer token without permissions

	Kill   func(context.Context) error // kills the server without a graceful shutdown, but keeps its data
	Start  func(context.Context) error // restarts the server at the same URL and waits until it responds
	Expire func(context.Context) error // expires all earlier resourceVersions and waits until the server responds

	// Protobuf decodes ConfigMaps from protobuf. If it is nil, Run skips the modes that use protobuf.
	Protobuf lw.Codec[*lw.Object]

	namespaces atomic.Int32
}

// ConfigMaps returns a built-in resource, and Widgets a custom resource.
func ConfigMaps(namespace string) lw.Resource {
	return lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}
}

func Widgets(namespace string) lw.Resource {
	return lw.Resource{Group: "lw.example.com", Version: "v1", Plural: "widgets", Namespace: namespace}
}

// deadline limits each wait. A correct client needs far less time.
const deadline = 90 * time.Second

// run is the state of a running scenario.
type run struct {
	*testing.T
	*Cluster
	ctx   context.Context
	ns    string // namespace that only this scenario uses
	alone bool   // no other scenario runs at the same time
	mode
}

// transport returns a transport for the scenario's mode that sends the given bearer token. It is closed when the test
// ends.
func (r *run) transport(token string) lw.Transport {
	r.Helper()
	over, err := lwhttp.New(r.URL, r.Connect(token))
	require.NoError(r, err)
	r.Cleanup(over.Close)
	if r.websocket {
		return lwws.New(over)
	}
	return over
}

func (r *run) namespace() string {
	name := "scenario-" + strconv.Itoa(int(r.namespaces.Add(1)))
	code, body := r.do(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
	require.Contains(r, []int{http.StatusCreated, http.StatusConflict}, code, body)
	return name
}

// eventually polls until condition returns true. It fails the test after deadline.
func (r *run) eventually(what string, condition func() bool) {
	r.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		require.True(r, time.Now().Before(end), "timed out after %v waiting until %s", deadline, what)
	}
}

// disturb calls one of the cluster's functions that stop the server. It then closes r.Client's idle connections,
// because the client might not retry a request on a closed connection.
func (r *run) disturb(f func(context.Context) error) {
	require.True(r, r.alone, `set "alone" for this scenario in the table`)
	require.NoError(r, f(r.ctx))
	r.Client.CloseIdleConnections()
}

// configMaps returns the URL path of the scenario's ConfigMaps, or of the named ConfigMap.
func (r *run) configMaps(name ...string) string {
	return path.Join(append([]string{"/api/v1/namespaces", r.ns, "configmaps"}, name...)...)
}

func (r *run) widgets(name ...string) string {
	return path.Join(append([]string{"/apis/lw.example.com/v1/namespaces", r.ns, "widgets"}, name...)...)
}

// configMap returns the JSON of a ConfigMap.
func configMap(name, label, value string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"app":"` + label + `"}},"data":{"k":"` + value + `"}}`
}

// create creates n ConfigMaps concurrently. Each name consists of prefix and a number below n.
func (r *run) create(n int, prefix string) {
	r.Helper()
	var group sync.WaitGroup
	const workers = 8
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < n; i += workers {
				name := prefix + strconv.Itoa(i)
				if code, text, err := r.try(http.MethodPost, r.configMaps(), configMap(name, "demo", "v")); err != nil || code != http.StatusCreated {
					r.Errorf("creating %s: status %d, body %q, error %v", name, code, text, err)
				}
			}
		})
	}
	group.Wait()
	require.False(r, r.Failed())
}
