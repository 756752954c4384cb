// Package scenarios holds what must hold against every API server: the same table runs against the embedded server of
// lwtest and against a real kube-apiserver, so that the embedded one cannot drift from the real one.
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
	// URL and Connect tell how to reach it; Connect returns the options for a bearer token.
	URL     string
	Connect func(token string) *lwhttp.Options

	Client      *http.Client // for the scenarios' own requests
	AdminToken  string       // may do everything
	NobodyToken string       // is known, and may do nothing

	Kill   func(context.Context) error // ends the server like kill -9; its data stay
	Start  func(context.Context) error // starts it again at the same URL, and returns when it answers
	Expire func(context.Context) error // makes every resource version so far too old, and returns when the server answers

	// Protobuf decodes ConfigMaps from protobuf. If it is nil, the scenarios request JSON only.
	Protobuf lw.Codec[*lw.Object]

	namespaces atomic.Int32
}

// ConfigMaps and Widgets are the collections that the scenarios write to: a built-in one and a custom one.
func ConfigMaps(namespace string) lw.Resource {
	return lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}
}

func Widgets(namespace string) lw.Resource {
	return lw.Resource{Group: "lw.example.com", Version: "v1", Plural: "widgets", Namespace: namespace}
}

// deadline bounds every wait; nothing takes nearly as long unless it is broken.
const deadline = 90 * time.Second

// run is one scenario's use of the cluster.
type run struct {
	*testing.T
	*Cluster
	ctx   context.Context
	ns    string // a namespace of its own
	alone bool   // nothing else runs
	mode
}

// transport returns one to the cluster with a token, as the mode wants it, until the test's end.
func (r *run) transport(token string) lw.Transport {
	r.Helper()
	over, err := lwhttp.New(r.URL, r.Connect(token))
	require.NoError(r, err)
	r.Cleanup(over.Close)
	if r.websocket {
		return lwws.New(over, nil)
	}
	return over
}

// namespace makes a fresh one.
func (r *run) namespace() string {
	name := "scenario-" + strconv.Itoa(int(r.namespaces.Add(1)))
	code, body := r.do(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
	require.Contains(r, []int{http.StatusCreated, http.StatusConflict}, code, body)
	return name
}

// eventually polls until a condition holds.
func (r *run) eventually(what string, condition func() bool) {
	r.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		require.True(r, time.Now().Before(end), "not within %v: %s", deadline, what)
	}
}

// kill and expire drop the test's own connections too: a request on one that the server has left may not be repeated.
func (r *run) kill() {
	require.True(r, r.alone, "the table has to say that this runs alone")
	require.NoError(r, r.Kill(r.ctx))
	r.Client.CloseIdleConnections()
}

func (r *run) expire() {
	require.True(r, r.alone, "the table has to say that this runs alone")
	require.NoError(r, r.Expire(r.ctx))
	r.Client.CloseIdleConnections()
}

// configMaps is the path of the scenario's ConfigMaps, and of one of them if a name is given.
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

// configMap is the body of one, with a label and a value.
func configMap(name, label, value string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"app":"` + label + `"}},"data":{"k":"` + value + `"}}`
}

// create makes n ConfigMaps, some at a time.
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
