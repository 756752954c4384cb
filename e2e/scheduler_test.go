package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/examples/scheduler"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestScheduler runs the scheduler example against a real server that is killed while Pods are created. The
// example's own test covers how it chooses nodes.
func TestScheduler(t *testing.T) {
	t.Parallel() // this test uses its own cluster and mostly waits
	c := kube.Start(t)
	client := c.HTTPClient()
	defer client.CloseIdleConnections()
	authorized := *client
	authorized.Transport = bearer{client.Transport, c.AdminToken}
	transport, err := lwhttp.New(c.URL, &lwhttp.Options{CAData: c.CAPEM, Token: c.AdminToken})
	require.NoError(t, err)
	defer transport.Close()
	s, err := scheduler.New(transport, c.URL, &authorized)
	require.NoError(t, err)
	pods, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	nodes := map[string]map[string]bool{} // all nodes to which each Pod has been bound; read after running.Wait
	running.Go(func() {
		for event := range lw.ListAndWatch(ctx, pods, nil) {
			if event.Object != nil && event.Object.Get("spec.nodeName").Exists() {
				name := event.Object.GetName()
				if nodes[name] == nil {
					nodes[name] = map[string]bool{}
				}
				nodes[name][event.Object.Get("spec.nodeName").String()] = true
			}
		}
	})
	// write repeats a request until it succeeds. The codes 404 and 409 count as success, because the response to a
	// successful attempt may have been lost.
	write := func(method, path, contentType, body string) {
		require.Eventually(t, func() bool {
			code, _, err := c.Do(ctx, method, path, contentType, body)
			return err == nil && (code < 300 || code == http.StatusConflict || code == http.StatusNotFound)
		}, 90*time.Second, 20*time.Millisecond, path)
	}
	addNode := func(name string) {
		write(http.MethodPost, "/api/v1/nodes", "application/json", `{"metadata":{"name":"`+name+`"},
			"status":{"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}}`)
		// kube-apiserver adds a taint to new nodes, and no controller would remove it.
		write(http.MethodPatch, "/api/v1/nodes/"+name, "application/merge-patch+json", `{"spec":{"taints":null}}`)
	}
	addNode("node-a")
	addNode("node-b")
	running.Go(func() { _ = s.Run(ctx) })
	var creating sync.WaitGroup
	creating.Go(func() {
		for i := range 60 {
			write(http.MethodPost, "/api/v1/namespaces/default/pods", "application/json",
				fmt.Sprintf(`{"metadata":{"name":"p-%d"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"}}}]}}`, i))
		}
	})
	c.Kill()
	client.CloseIdleConnections()
	require.NoError(t, c.StartAPIServer(ctx))
	write(http.MethodDelete, "/api/v1/nodes/node-b", "", "")
	addNode("node-c")
	creating.Wait()
	bound := map[string]string{}
	require.Eventually(t, func() bool {
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
				Spec     struct{ NodeName string }
			}
		}
		code, body, err := c.Do(ctx, http.MethodGet, "/api/v1/namespaces/default/pods", "", "")
		if err != nil || code != http.StatusOK || json.Unmarshal(body, &list) != nil {
			return false
		}
		waiting := 0
		for _, pod := range list.Items {
			if bound[pod.Metadata.Name] = pod.Spec.NodeName; pod.Spec.NodeName == "" {
				waiting++
			}
		}
		return waiting == 0 && len(list.Items) == 60
	}, 90*time.Second, 20*time.Millisecond)
	stop()
	running.Wait()
	perNode := map[string]int{}
	for name, node := range bound {
		perNode[node]++
		for seen := range nodes[name] {
			require.Equal(t, node, seen, "%s was bound more than once", name)
		}
	}
	for node, count := range perNode {
		require.Contains(t, []string{"node-a", "node-b", "node-c"}, node)
		require.LessOrEqual(t, count, 40, "%s has 4 CPUs", node)
	}
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
