// Package schedulertest tests the scheduler while faults happen, against the embedded API server or a real API server.
package schedulertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// Cluster is an API server with the namespace "default" and without nodes and Pods.
type Cluster struct {
	URL     string
	Options *lwhttp.Options // options of the transport for reads
	Client  *http.Client    // client for writes; the caller closes it
	Token   string
	Break   func(context.Context) error // drops all connections and blocks until the server accepts requests again
}

// deadline limits each wait. A working scheduler needs much less time.
const deadline = 90 * time.Second

const (
	nodesPath = "/api/v1/nodes"
	podsPath  = "/api/v1/namespaces/default/pods"
)

// run is one run of the test on a cluster.
type run struct {
	*testing.T
	Cluster
}

// bearer is an http.RoundTripper that adds a bearer token to requests.
type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(req)
}

// try sends a request and returns the response. If there is no response, the status code is 0.
func (r *run) try(method, path, body string) (code int, text string) {
	req, err := http.NewRequestWithContext(r.Context(), method, r.URL+path, strings.NewReader(body))
	require.NoError(r, err)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := r.Client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(all)
}

// write repeats a request until it succeeds. A 404 or 409 response also counts as success, because the response to an
// earlier attempt may have been lost.
func (r *run) write(method, path, body string) {
	r.eventually(method+" "+path, func() (bool, string) {
		code, text := r.try(method, path, body)
		done := code/100 == 2 || code == http.StatusConflict || code == http.StatusNotFound
		return done, text
	})
}

// eventually polls until the condition is true. On a timeout, it fails the test with the reason that the condition
// returned.
func (r *run) eventually(what string, condition func() (ok bool, why string)) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); ; <-tick.C {
		ok, why := condition()
		if ok {
			return
		}
		if time.Now().After(end) {
			r.Fatalf("timed out after %v: %s: %s", deadline, what, why)
		}
	}
}

// node describes a node to create. The zero values describe a usable node.
type node struct {
	name, cpu string
	ready     string // status of the Ready condition
	cordoned  bool
	taints    string // JSON array
}

// addNode creates a node and then sets its taints. A kube-apiserver adds a taint to a new node, which only a controller
// would remove.
func (r *run) addNode(n node) {
	ready, taints := cmp.Or(n.ready, "True"), cmp.Or(n.taints, "null")
	r.write(http.MethodPost, nodesPath, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"unschedulable":%t,"taints":%s},
		"status":{"allocatable":{"cpu":%q},"conditions":[{"type":"Ready","status":%q}]}}`, n.name, n.cordoned, taints, n.cpu, ready))
	r.write(http.MethodPatch, nodesPath+"/"+n.name, `{"spec":{"taints":`+taints+`}}`)
}

func (r *run) addPod(name, cpu string) {
	r.write(http.MethodPost, podsPath, `{"metadata":{"name":"`+name+`"},"spec":{"containers":[{"name":"c","image":"i",
		"resources":{"requests":{"cpu":"`+cpu+`"}}}]}}`)
}

func (r *run) addPods(prefix string, n int) {
	for i := range n {
		r.addPod(fmt.Sprintf("%s-%d", prefix, i), "100m")
	}
}

func (r *run) deletePod(name string) {
	r.write(http.MethodDelete, podsPath+"/"+name+"?gracePeriodSeconds=0", "")
}

// bound returns the node name of each Pod, or "" for a Pod without a node.
func (r *run) bound() map[string]string {
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ NodeName string }
		}
	}
	r.eventually("the informer lists the Pods", func() (bool, string) {
		code, text := r.try(http.MethodGet, podsPath, "")
		return code == http.StatusOK && json.Unmarshal([]byte(text), &list) == nil, text
	})
	nodes := make(map[string]string, len(list.Items))
	for _, pod := range list.Items {
		nodes[pod.Metadata.Name] = pod.Spec.NodeName
	}
	return nodes
}

// perNode returns the number of Pods by node name. The key "" contains the number of Pods without a node.
func (r *run) perNode() map[string]int {
	counts := map[string]int{}
	for _, node := range r.bound() {
		counts[node]++
	}
	return counts
}
