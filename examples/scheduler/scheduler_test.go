package scheduler

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// start runs the scheduler with an embedded server until the test ends. It returns the server.
func start(t *testing.T) *lwtest.Server {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	s, err := New(transport, server.URL, client)
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- s.Run(t.Context()) }()
	t.Cleanup(func() { require.ErrorIs(t, <-ended, context.Canceled) })
	return server
}

// putNode creates a node. spec is the JSON of its spec, and ready is the status of its Ready condition.
func putNode(t *testing.T, server *lwtest.Server, name, cpu, spec, ready string) {
	_, err := server.Put("nodes", fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s,
		"status":{"allocatable":{"cpu":%q},"conditions":[{"type":"Ready","status":%q}]}}`, name, spec, cpu, ready))
	require.NoError(t, err)
}

func putPod(t *testing.T, server *lwtest.Server, name, cpu string) {
	_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"containers":[{"resources":{"requests":{"cpu":%q}}}]}}`, name, cpu))
	require.NoError(t, err)
}

// nodeOf returns the name of a Pod's node, or "" if the Pod has no node.
func nodeOf(server *lwtest.Server, pod string) string {
	_, pods := server.State("pods")
	return pods["default/"+pod].Get("spec.nodeName").String()
}

// perNode returns the number of Pods by node name. The key of Pods without a node is "".
func perNode(server *lwtest.Server) map[string]int {
	_, pods := server.State("pods")
	counts := map[string]int{}
	for _, pod := range pods {
		counts[pod.Get("spec.nodeName").String()]++
	}
	return counts
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 90*time.Second, 10*time.Millisecond)
}

func TestDistributesPodsAmongUsableNodes(t *testing.T) {
	server := start(t)
	for name, cpu := range map[string]string{"a": "4", "b": "4", "c": "4", "small": "300m"} {
		putNode(t, server, name, cpu, "{}", "True")
	}
	putNode(t, server, "cordoned", "4", `{"unschedulable":true}`, "True")
	putNode(t, server, "sick", "4", "{}", "Unknown")
	putNode(t, server, "tainted", "4", `{"taints":[{"key":"example.com/gpu","effect":"NoSchedule"}]}`, "True")
	putPod(t, server, "first", "100m")
	eventually(t, func() bool { return nodeOf(server, "first") != "" })
	for i := range 29 {
		putPod(t, server, fmt.Sprint("pod-", i), "100m")
	}
	eventually(t, func() bool { return perNode(server)[""] == 0 })
	require.Equal(t, map[string]int{"a": 9, "b": 9, "c": 9, "small": 3}, perNode(server))
}

func TestPodWaitsForCPU(t *testing.T) {
	server := start(t)
	putNode(t, server, "small", "4", "{}", "True")
	putPod(t, server, "big", "8")
	putPod(t, server, "after-big", "100m")
	eventually(t, func() bool { return nodeOf(server, "after-big") == "small" })
	require.Empty(t, nodeOf(server, "big"), "no node has enough CPU yet")

	putNode(t, server, "large", "10", "{}", "True")
	eventually(t, func() bool { return nodeOf(server, "big") == "large" })

	putPod(t, server, "next", "9")
	putPod(t, server, "after-next", "100m")
	eventually(t, func() bool { return nodeOf(server, "after-next") != "" })
	require.Empty(t, nodeOf(server, "next"), "the Pod big still occupies the node")
	require.NoError(t, server.Delete("pods", "default", "big"))
	eventually(t, func() bool { return nodeOf(server, "next") == "large" })
}

// TestBindsPodsOnceDuringOutages creates Pods while nodes change and connections break. It requires each Pod to be bound
// exactly once, and no node to be overcommitted.
func TestBindsPodsOnceDuringOutages(t *testing.T) {
	server := start(t)
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	pods, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	nodes := map[string]map[string]bool{} // all nodes to which each Pod has been bound
	var following sync.WaitGroup
	complete := make(chan struct{})
	following.Go(func() {
		for event := range lw.ListAndWatch(ctx, pods, nil) {
			if event.Object == nil || !event.Object.Get("spec.nodeName").Exists() {
				continue
			}
			name, node := event.Object.GetName(), event.Object.Get("spec.nodeName").String()
			if nodes[name] == nil {
				nodes[name] = map[string]bool{}
			}
			if nodes[name][node] = true; len(nodes) == 60 {
				stop()
				close(complete)
				return
			}
		}
	})
	putNode(t, server, "a", "4", "{}", "True")
	putNode(t, server, "b", "4", "{}", "True")
	var creating sync.WaitGroup
	creating.Go(func() {
		for i := range 60 {
			putPod(t, server, fmt.Sprint("pod-", i), "100m")
		}
	})
	server.DropConnections()
	require.NoError(t, server.Delete("nodes", "", "b"))
	server.DropConnections()
	putNode(t, server, "c", "4", "{}", "True")
	creating.Wait()
	<-complete
	following.Wait()
	for name, seen := range nodes {
		require.Len(t, seen, 1, "%s was bound more than once", name)
		require.True(t, seen[nodeOf(server, name)], name)
	}
	for node, count := range perNode(server) {
		require.Contains(t, []string{"a", "b", "c"}, node)
		require.LessOrEqual(t, count, 40, "%s has 4 CPUs", node)
	}
}
