// Package schedulertest tests the scheduler against an embedded or real API server whose connections break.
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

// Cluster is an API server that has the namespace default, but no nodes or Pods.
type Cluster struct {
	URL     string
	Options *lwhttp.Options // used for reads
	Client  *http.Client    // used for writes; the caller closes its connections
	Token   string
	Break   func(context.Context) error // drops all connections; returns when the server accepts requests again
}

// deadline limits each wait. A wait normally takes a few seconds at most.
const deadline = 90 * time.Second

const (
	nodesPath = "/api/v1/nodes"
	podsPath  = "/api/v1/namespaces/default/pods"
)

type run struct {
	*testing.T
	Cluster
}

// bearer is an http.RoundTripper that adds a bearer token to each request.
type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(req)
}

// try sends a request and returns the status code and the body of the response. If there is no response, it returns 0
// and the error message.
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

// write repeats a request until it succeeds. The codes 404 and 409 count as success, because the response to a
// successful attempt may have been lost.
func (r *run) write(method, path, body string) {
	r.eventually(method+" "+path+" succeeds", func() (bool, string) {
		code, text := r.try(method, path, body)
		done := code/100 == 2 || code == http.StatusConflict || code == http.StatusNotFound
		return done, text
	})
}

// eventually calls condition until it returns true. At the deadline, it fails the test with the reason that condition
// returned last.
func (r *run) eventually(what string, condition func() (ok bool, why string)) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); ; <-tick.C {
		ok, why := condition()
		if ok {
			return
		}
		if time.Now().After(end) {
			r.Fatalf("timed out after %v waiting until %s; last result: %q", deadline, what, why)
		}
	}
}

// node describes a node to create. By default, the node is usable.
type node struct {
	name, cpu string
	ready     string // status of the Ready condition; "True" if empty
	cordoned  bool
	taints    string // JSON array; no taints if empty
}

// addNode creates a node and sets its taints again, because a kube-apiserver adds a taint to new nodes. No controller
// would remove this taint.
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

// bound returns the node name of each Pod by Pod name. The node name is empty if the Pod has no node.
func (r *run) bound() map[string]string {
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ NodeName string }
		}
	}
	r.eventually("the server lists the Pods", func() (bool, string) {
		code, text := r.try(http.MethodGet, podsPath, "")
		return code == http.StatusOK && json.Unmarshal([]byte(text), &list) == nil, text
	})
	nodes := make(map[string]string, len(list.Items))
	for _, pod := range list.Items {
		nodes[pod.Metadata.Name] = pod.Spec.NodeName
	}
	return nodes
}

// perNode returns the number of Pods by node name. The key of Pods without a node is "".
func (r *run) perNode() map[string]int {
	counts := map[string]int{}
	for _, node := range r.bound() {
		counts[node]++
	}
	return counts
}
