package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/examples/scheduler"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

type cluster struct {
	*testing.T
	*lwtest.Server
}

// addNode creates a node. spec is the JSON of its spec, and ready is the status of its Ready condition.
func (c cluster) addNode(name, cpu, spec, ready string) {
	_, err := c.Create("nodes", fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s,
		"status":{"allocatable":{"cpu":%q},"conditions":[{"type":"Ready","status":%q}]}}`, name, spec, cpu, ready))
	require.NoError(c, err)
}

func (c cluster) addPod(name, cpu string) {
	_, err := c.Create("pods", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"containers":[{"resources":{"requests":{"cpu":%q}}}]}}`, name, cpu))
	require.NoError(c, err)
}

func (c cluster) addPods(prefix string, n int) {
	for i := range n {
		c.addPod(fmt.Sprintf("%s-%d", prefix, i), "100m")
	}
}

// bound returns the node name of each Pod by Pod name. The node name is empty if the Pod has no node.
func (c cluster) bound() map[string]string {
	_, pods := c.State("pods")
	nodes := map[string]string{}
	for _, pod := range pods {
		nodes[pod.GetName()] = pod.Get("spec.nodeName").String()
	}
	return nodes
}

// perNode returns the number of Pods by node name. The key of Pods without a node is "".
func (c cluster) perNode() map[string]int {
	counts := map[string]int{}
	for _, node := range c.bound() {
		counts[node]++
	}
	return counts
}

func (c cluster) eventually(what string, condition func() bool) {
	c.Helper()
	require.Eventually(c, condition, 90*time.Second, 20*time.Millisecond, what)
}

func (c cluster) waitBound(name string, nodes ...string) {
	c.Helper()
	c.eventually(name+" is bound", func() bool { return c.bound()[name] != "" })
	if len(nodes) > 0 {
		require.Contains(c, nodes, c.bound()[name])
	}
}

// history contains all nodes to which each Pod has been bound. A Pod's name is never reused.
type history struct {
	mu    sync.Mutex
	nodes map[string][]string
}

func (h *history) follow(ctx context.Context, pods lw.ListerWatcher[*lw.Object]) {
	for event := range lw.ListAndWatch(ctx, pods, nil) {
		if event.Object == nil {
			continue
		}
		name, node := event.Object.GetName(), event.Object.Get("spec.nodeName").String()
		h.mu.Lock()
		if seen := h.nodes[name]; len(seen) == 0 && node != "" || len(seen) > 0 && seen[len(seen)-1] != node {
			h.nodes[name] = append(seen, node)
		}
		h.mu.Unlock()
	}
}

// has reports whether the history contains a node for each Pod.
func (h *history) has(bound map[string]string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range bound {
		if len(h.nodes[name]) == 0 {
			return false
		}
	}
	return true
}

// TestBindsPodsOnce creates many Pods while nodes change and connections break. It requires each Pod to be bound exactly
// once, to a usable node with enough CPU.
func TestBindsPodsOnce(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{Tokens: []string{"admin"}})
	require.NoError(t, err)
	defer server.Close()
	c := cluster{t, server}
	transport, err := lwhttp.New(server.URL, &lwhttp.Options{Token: "admin"})
	require.NoError(t, err)
	defer transport.Close()
	client := &http.Client{Transport: bearer{&http.Transport{}}}
	defer client.CloseIdleConnections()
	s, err := scheduler.New(transport, server.URL, client)
	require.NoError(t, err)
	pods, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	h := &history{nodes: map[string][]string{}}
	running.Go(func() { h.follow(ctx, pods) })
	for name, cpu := range map[string]string{"node-a": "4", "node-b": "4", "node-c": "4", "small": "300m"} {
		c.addNode(name, cpu, "{}", "True")
	}
	c.addNode("bad-cordoned", "4", `{"unschedulable":true}`, "True")
	c.addNode("bad-sick", "4", "{}", "Unknown")
	c.addNode("bad-tainted", "4", `{"taints":[{"key":"example.com/gpu","effect":"NoSchedule"}]}`, "True")
	running.Go(func() { _ = s.Run(ctx) })

	c.addPods("first", 30)
	c.eventually("30 Pods are bound", func() bool { return c.perNode()[""] == 0 })
	require.Equal(t, map[string]int{"node-a": 9, "node-b": 9, "node-c": 9, "small": 3}, c.perNode())

	var creating sync.WaitGroup
	creating.Go(func() { c.addPods("second", 60) })
	server.DropConnections()
	require.NoError(t, server.Delete("nodes", "", "node-c"))
	server.DropConnections()
	c.addNode("node-d", "4", "{}", "True")
	creating.Wait()
	c.eventually("90 Pods are bound", func() bool { return c.perNode()[""] == 0 })
	require.Len(t, c.bound(), 90)

	// A Pod waits until a new node or a deleted Pod provides enough CPU.
	c.addPod("big", "8")
	c.addPod("after", "100m")
	c.waitBound("after")
	require.Empty(t, c.bound()["big"], "the Pod must stay unbound, because no node has enough CPU")
	c.addNode("large", "10", "{}", "True")
	c.waitBound("big", "large")
	c.addPod("next", "9")
	c.addPod("last", "100m")
	c.waitBound("last")
	require.Empty(t, c.bound()["next"])
	require.NoError(t, server.Delete("pods", "default", "big"))
	c.waitBound("next", "large")

	c.eventually("the history is complete", func() bool { return h.has(c.bound()) })
	stop()
	running.Wait()
	c.verify(h)
}

func (c cluster) verify(h *history) {
	bound := c.bound()
	require.Len(c, bound, 93)
	limits := map[string]int{"node-a": 4000, "node-b": 4000, "node-c": 4000, "node-d": 4000, "small": 300, "large": 10_000}
	cpu := map[string]int{}
	for name, node := range bound {
		require.Contains(c, limits, node, name)
		cpu[node] += 100
		if name == "next" {
			cpu[node] += 9000 - 100
		}
	}
	for node, used := range cpu {
		require.LessOrEqual(c, used, limits[node], node)
	}
	for name, nodes := range h.nodes {
		require.Len(c, nodes, 1, "%s was bound more than once", name)
	}
}

// bearer adds the token to the bindings.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer admin")
	return b.RoundTripper.RoundTrip(req)
}

func (b bearer) CloseIdleConnections() { b.RoundTripper.(*http.Transport).CloseIdleConnections() }
