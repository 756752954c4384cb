package schedulertest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/examples/scheduler"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Run creates many Pods while nodes change and connections break. It requires each Pod to be bound exactly once, to a
// usable node with enough CPU.
func Run(t *testing.T, c Cluster) {
	base := c.Client.Transport
	client := *c.Client
	client.Transport = bearer{base, c.Token}
	c.Client = &client
	r := &run{T: t, Cluster: c}
	transport, err := lwhttp.New(c.URL, c.Options)
	require.NoError(t, err)
	defer transport.Close()
	s, err := scheduler.New(scheduler.Config{
		Transport: transport, URL: c.URL, Client: c.Client, Workers: 4, Log: func(err error) { t.Log(err) },
	})
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	h := &history{nodes: map[lw.Key][]string{}}
	running.Go(func() { h.follow(ctx, transport) })
	r.addNodes()
	running.Go(func() { _ = s.Run(ctx) })
	r.burst()
	r.faults(ctx)
	r.capacity()
	r.eventually("the history is complete", func() (bool, string) { return h.has(r.bound()), "" })
	stop()
	running.Wait()
	r.verify(h)
}

// addNodes creates three usable nodes, a small node, and three unusable nodes.
func (r *run) addNodes() {
	for _, n := range []node{
		{name: "node-a", cpu: "4"}, {name: "node-b", cpu: "4"}, {name: "node-c", cpu: "4"}, {name: "small", cpu: "300m"},
		{name: "bad-cordoned", cpu: "4", cordoned: true},
		{name: "bad-sick", cpu: "4", ready: "Unknown"},
		{name: "bad-tainted", cpu: "4", taints: `[{"key":"example.com/gpu","effect":"NoSchedule"}]`},
	} {
		r.addNode(n)
	}
}

// burst creates 30 Pods at once and checks that they are spread evenly over the nodes with enough CPU.
func (r *run) burst() {
	r.addPods("first", 30)
	want := map[string]int{"node-a": 9, "node-b": 9, "node-c": 9, "small": 3}
	r.eventually("30 Pods are bound", func() (bool, string) {
		got := r.perNode()
		return got[""] == 0 && len(got) > 0, fmt.Sprint(got)
	})
	require.Equal(r, want, r.perNode())
}

// faults drops connections, deletes a node and adds a node while it creates 60 Pods.
func (r *run) faults(ctx context.Context) {
	var creating sync.WaitGroup
	creating.Go(func() { r.addPods("second", 60) })
	require.NoError(r, r.Break(ctx))
	r.write(http.MethodDelete, nodesPath+"/node-c", "")
	require.NoError(r, r.Break(ctx))
	r.addNode(node{name: "node-d", cpu: "4"})
	creating.Wait()
	r.eventually("90 Pods are bound", func() (bool, string) {
		got := r.perNode()
		return got[""] == 0, fmt.Sprint(got)
	})
	require.Len(r, r.bound(), 90)
}

// capacity checks that a Pod waits until a new node or a deleted Pod provides enough CPU.
func (r *run) capacity() {
	r.addPod("big", "8")
	r.addPod("after", "100m")
	r.waitFor("after", "")
	require.Empty(r, r.bound()["big"], "the Pod must stay unbound, because no node has enough CPU")
	r.addNode(node{name: "large", cpu: "10"})
	r.waitFor("big", "large")
	r.addPod("next", "9")
	r.addPod("last", "100m")
	r.waitFor("last", "")
	require.Empty(r, r.bound()["next"])
	r.deletePod("big")
	r.waitFor("next", "large")
}

// waitFor waits until a Pod is bound to the named node, or to any node if the name is empty.
func (r *run) waitFor(name, node string) {
	r.eventually(name+" is bound", func() (bool, string) {
		got := r.bound()[name]
		return got != "" && (node == "" || got == node), got
	})
}

func (r *run) verify(h *history) {
	bound := r.bound()
	require.Len(r, bound, 93)
	cpu := map[string]int{}
	for name, node := range bound {
		require.Contains(r, []string{"node-a", "node-b", "node-c", "node-d", "small", "large"}, node, name)
		cpu[node] += 100
		if name == "next" {
			cpu[node] += 9000 - 100
		}
	}
	for node, used := range cpu {
		limit := map[string]int{"small": 300, "large": 10_000}[node]
		if limit == 0 {
			limit = 4000
		}
		require.LessOrEqual(r, used, limit, node)
	}
	for key, nodes := range h.nodes {
		require.Len(r, nodes, 1, "%s was bound more than once", key)
	}
}
