package cluster

import (
	"context"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

var resources = []string{"configmaps", "deployments.apps", "events", "namespaces", "nodes", "pods", "services"}

func newServer(t *testing.T) *lwtest.Server {
	t.Helper()
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

// contents returns a line for each object with its resource, key and resourceVersion.
func contents(server *lwtest.Server) (all []string) {
	for _, resource := range resources {
		_, objects := server.State(resource)
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			all = append(all, resource+" "+key+" "+objects[key].GetResourceVersion())
		}
	}
	return all
}

func revision(t *testing.T, server *lwtest.Server) int64 {
	t.Helper()
	version, _ := server.State("pods")
	n, err := strconv.ParseInt(version, 10, 64)
	require.NoError(t, err)
	return n
}

func TestSameSeedProducesSameWrites(t *testing.T) {
	const steps = 150
	play := func(seed uint64, begin time.Time) *lwtest.Server {
		server := newServer(t)
		c := start(server, seed, begin)
		for range steps {
			c.advance()
		}
		return server
	}
	first := play(1, time.Unix(0, 0))
	require.Equal(t, contents(first), contents(play(1, time.Now())))
	require.NotEqual(t, contents(first), contents(play(2, time.Now())))
	writesPerSecond := float64(revision(t, first)) / (steps * interval.Seconds())
	require.Greater(t, writesPerSecond, 3.0)
	require.Less(t, writesPerSecond, 20.0)
}

type storedPod struct {
	Metadata struct {
		DeletionTimestamp string
		OwnerReferences   []any
	}
	Spec   struct{ NodeName string }
	Status struct {
		Phase             string
		ContainerStatuses []struct {
			State map[string]struct{ Reason string }
		}
	}
}

// stages adds the Pod's phase, container states and other stages to seen.
func (p *storedPod) stages(seen map[string]bool) {
	seen[p.Status.Phase] = true
	seen["scheduled"] = seen["scheduled"] || p.Spec.NodeName != ""
	seen["terminating"] = seen["terminating"] || p.Metadata.DeletionTimestamp != ""
	for _, container := range p.Status.ContainerStatuses {
		for state, detail := range container.State {
			seen[state+" "+detail.Reason] = true
		}
	}
}

func TestPodsReachEveryStage(t *testing.T) {
	server := newServer(t)
	c := start(server, 1, time.Now())
	missing := []string{"Pending", "Running", "Succeeded", "Failed", "scheduled", "terminating",
		"waiting ContainerCreating", "waiting CrashLoopBackOff", "running ", "terminated Completed", "terminated Error"}
	seen := map[string]bool{}
	for range 600 {
		c.advance()
		_, pods := server.State("pods")
		for _, object := range pods {
			var pod storedPod
			require.NoError(t, json.Unmarshal([]byte(object.Raw()), &pod))
			require.Len(t, pod.Metadata.OwnerReferences, 1)
			pod.stages(seen)
		}
		missing = slices.DeleteFunc(missing, func(stage string) bool { return seen[stage] })
		if len(missing) == 0 && len(c.events) == maxEvents {
			break
		}
	}
	require.Empty(t, missing, "no Pod reached these stages")
	for _, resource := range resources {
		_, objects := server.State(resource)
		require.NotEmpty(t, objects, resource)
	}
	_, events := server.State("events")
	require.Len(t, events, maxEvents)
}

// stored returns the decoded objects of a resource. It fails the test if there are none.
func stored[T any](t *testing.T, server *lwtest.Server, resource string) (all []T) {
	t.Helper()
	_, objects := server.State(resource)
	for _, object := range objects {
		var decoded T
		require.NoError(t, json.Unmarshal([]byte(object.Raw()), &decoded))
		all = append(all, decoded)
	}
	require.NotEmpty(t, all, resource)
	return all
}

func TestAddressesAreValid(t *testing.T) {
	type node struct {
		Spec   struct{ PodCIDR string }
		Status struct{ Addresses []struct{ Address string } }
	}
	type service struct{ Spec struct{ ClusterIP string } }
	type pod struct {
		Status struct{ Phase, PodIP, HostIP string }
	}
	server := newServer(t)
	c := start(server, 1, time.Now())
	for range 150 {
		c.advance()
	}
	var ips []string
	for _, node := range stored[node](t, server, "nodes") {
		_, err := netip.ParsePrefix(node.Spec.PodCIDR)
		require.NoError(t, err)
		ips = append(ips, node.Status.Addresses[0].Address)
	}
	for _, service := range stored[service](t, server, "services") {
		ips = append(ips, service.Spec.ClusterIP)
	}
	for _, pod := range stored[pod](t, server, "pods") {
		if pod.Status.Phase == "Running" {
			ips = append(ips, pod.Status.PodIP, pod.Status.HostIP)
		}
	}
	for _, ip := range ips {
		_, err := netip.ParseAddr(ip)
		require.NoError(t, err)
	}
}

func TestReactsToOtherWriters(t *testing.T) {
	server := newServer(t)
	c := start(server, 3, time.Now())
	podsOf := func(app string) (n int) {
		_, pods := server.State("pods")
		for key := range pods {
			if strings.HasPrefix(key, app) {
				n++
			}
		}
		return n
	}
	advance := func(until string, reached func() bool) {
		t.Helper()
		for range 1000 {
			if reached() {
				return
			}
			c.advance()
		}
		require.Fail(t, until)
	}
	advance("the Deployment web must get a Pod", func() bool { return podsOf("shop/web-") > 0 })

	require.NoError(t, server.Delete("deployments.apps", "shop", "web"))
	advance("the Pods of the deleted Deployment must disappear", func() bool { return podsOf("shop/web-") == 0 })
	for range 200 {
		c.advance()
	}
	require.Zero(t, podsOf("shop/web-"))

	_, pods := server.State("pods")
	for key := range pods {
		namespace, name, _ := strings.Cut(key, "/")
		require.NoError(t, server.Delete("pods", namespace, name))
	}
	advance("the Deployment cart must get a new Pod", func() bool { return podsOf("shop/cart-") > 0 })
	_, events := server.State("events")
	for key := range events {
		namespace, name, _ := strings.Cut(key, "/")
		require.NoError(t, server.Delete("events", namespace, name))
	}
	require.NoError(t, server.Delete("nodes", "", "node-1"))
	for range 200 {
		c.advance()
	}
}

func TestContextEndsRun(t *testing.T) {
	server := newServer(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		Run(ctx, server, 1)
		require.Greater(t, revision(t, server), int64(50))
		written := revision(t, server)
		time.Sleep(time.Minute)
		require.Equal(t, written, revision(t, server))
	})
}

func TestMostPodsLiveLongEnoughToRead(t *testing.T) {
	all, remain := 0, 0
	for seed := range uint64(4) {
		server := newServer(t)
		c := start(server, seed, time.Now())
		after := func(d time.Duration) map[string]*lw.Object {
			for range d / interval {
				c.advance()
			}
			_, pods := server.State("pods")
			return pods
		}
		before := after(20 * time.Second)
		now := after(time.Minute)
		all += len(before)
		for key := range before {
			if now[key] != nil {
				remain++
			}
		}
	}
	require.Greater(t, remain, all/2, "of %d Pods, only %d exist a minute later", all, remain)
}
