// Package scenarios holds tests that every API server must pass. The tests run against the embedded server of lwtest
// and against a real kube-apiserver, to ensure that both behave alike.
package scenarios

import (
	"context"
	"fmt"
	"net/http"
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
	// URL is the server's URL. Connect returns the options for a connection with a bearer token.
	URL     string
	Connect func(token string) *lwhttp.Options

	Client      *http.Client // sends the scenarios' requests as administrator
	AdminToken  string       // has all permissions
	NobodyToken string       // is valid but has no permissions

	Kill   func(context.Context) error // kills the server process without a shutdown, but keeps its data
	Start  func(context.Context) error // restarts the server at the same URL and waits until it responds
	Expire func(context.Context) error // expires all earlier resourceVersions and waits until the server responds

	// Protobuf decodes ConfigMaps from protobuf. If it is nil, the scenarios request JSON only.
	Protobuf lw.Codec[*lw.Object]

	namespaces atomic.Int32
}

// ConfigMaps returns the built-in resource that the scenarios use. Widgets returns the custom resource.
func ConfigMaps(namespace string) lw.Resource {
	return lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}
}

func Widgets(namespace string) lw.Resource {
	return lw.Resource{Group: "lw.example.com", Version: "v1", Plural: "widgets", Namespace: namespace}
}

// deadline limits the time of every wait. A working client needs far less time.
const deadline = 90 * time.Second

// run holds the test, the server and the settings of a running scenario.
type run struct {
	*testing.T
	*Cluster
	ctx   context.Context
	ns    string // a namespace that only this scenario uses
	alone bool   // no other scenario runs at the same time
	mode
}

// transport returns a transport for the scenario's mode that authenticates with token. It is closed when the test ends.
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

// namespace creates a namespace and returns its name.
func (r *run) namespace() string {
	name := "scenario-" + strconv.Itoa(int(r.namespaces.Add(1)))
	code, body := r.do(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
	require.Contains(r, []int{http.StatusCreated, http.StatusConflict}, code, body)
	return name
}

// eventually polls until a condition is true. It fails the test if that takes longer than deadline.
func (r *run) eventually(what string, condition func() bool) {
	r.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		require.True(r, time.Now().Before(end), "timed out after %v: %s", deadline, what)
	}
}

// kill stops the server. Like expire, it also closes the test's idle connections, because the HTTP client might not
// retry a request on a connection that the server closed.
func (r *run) kill() {
	require.True(r, r.alone, "the table must mark this scenario as alone")
	require.NoError(r, r.Kill(r.ctx))
	r.Client.CloseIdleConnections()
}

func (r *run) expire() {
	require.True(r, r.alone, "the table must mark this scenario as alone")
	require.NoError(r, r.Expire(r.ctx))
	r.Client.CloseIdleConnections()
}

// configMaps returns the path of the scenario's ConfigMaps, or of the ConfigMap with the given name.
func (r *run) configMaps(name ...string) string {
	return path("/api/v1/namespaces/"+r.ns+"/configmaps", name)
}

func (r *run) widgets(name ...string) string {
	return path("/apis/lw.example.com/v1/namespaces/"+r.ns+"/widgets", name)
}

func path(base string, name []string) string {
	for _, n := range name {
		base += "/" + n
	}
	return base
}

// configMap returns a ConfigMap as JSON.
func configMap(name, label, value string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"app":"` + label + `"}},"data":{"k":"` + value + `"}}`
}

// create creates n ConfigMaps with several concurrent requests.
func (r *run) create(n int, prefix string) {
	r.Helper()
	var group sync.WaitGroup
	errs := make(chan error, n)
	const workers = 8
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < n; i += workers {
				name := prefix + strconv.Itoa(i)
				if code, text, err := r.try(http.MethodPost, r.configMaps(), configMap(name, "demo", "v")); err != nil || code != http.StatusCreated {
					errs <- fmt.Errorf("create %s: %d %s %v", name, code, text, err)
				}
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(r, err)
	}
}
