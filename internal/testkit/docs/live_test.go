//go:build unix

package docs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

const (
	pod = `{"metadata":{"name":"web-0","labels":{"app":"web"}},"spec":{"nodeName":"n1",` +
		`"containers":[{"name":"web","image":"nginx:1.27"},{"name":"mesh","image":"envoy:1.31"}]},"status":{%s}}`
	pending = `"phase":"Pending","ready":"0/1","restarts":0,"conditions":[{"type":"Ready","status":"False"}]`
	running = `"phase":"Running","ready":"1/1","restarts":0,"podIP":"10.0.0.7","conditions":[{"type":"Ready","status":"True"}]`
	worker  = `{"metadata":{"name":"worker-0","namespace":"shop","labels":{"app":"worker"}},"spec":{"nodeName":"n1"}}`
)

// fixed contains objects that never change. Each element consists of the name of a resource and an object in JSON.
var fixed = [][2]string{
	{"namespaces", `{"metadata":{"name":"shop"}}`},
	{"services", `{"metadata":{"name":"web"}}`},
	{"services", `{"metadata":{"name":"web","namespace":"shop"}}`},
	{"jobs.batch", `{"metadata":{"name":"migrate"},"status":{"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}}`},
	{"customresourcedefinitions.apiextensions.k8s.io", `{"metadata":{"name":"widgets.lw.example.com"},"spec":{"group":"lw.example.com",` +
		`"scope":"Namespaced","names":{"plural":"widgets","shortNames":["wd"],"kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true}]},"status":{"conditions":[{"type":"Established","status":"True"}]}}`},
	{"events", `{"metadata":{"name":"web-0.1"},"type":"Warning","reason":"BackOff","message":"Back-off restarting failed container",` +
		`"count":3,"firstTimestamp":"` + ago(3*time.Hour) + `","lastTimestamp":"` + ago(3*time.Minute) + `","involvedObject":{"kind":"Pod","name":"web-0"}}`},
	{"events", `{"metadata":{"name":"web-0.2"},"type":"Normal","reason":"Pulled","message":"Container image already present",` +
		`"firstTimestamp":"` + ago(3*time.Hour) + `","lastTimestamp":"` + ago(3*time.Hour) + `","involvedObject":{"kind":"Pod","name":"web-0"}}`},
}

// ago returns the current time minus d, in RFC 3339.
func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }

// changing contains objects that alternate between two states. Each element consists of a resource and the JSON of both
// states.
var changing = [][3]string{
	{"nodes", `{"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		`{"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`},
	{"configmaps", `{"metadata":{"name":"settings"},"data":{"connections":"100"}}`, `{"metadata":{"name":"settings"},"data":{"connections":"200"}}`},
	{"secrets", `{"metadata":{"name":"db"},"data":{"password":"b2xk"}}`, `{"metadata":{"name":"db"},"data":{"password":"bmV3"}}`},
	{"widgets.lw.example.com", `{"metadata":{"name":"gear"},"spec":{"teeth":12}}`, `{"metadata":{"name":"gear"},"spec":{"teeth":16}}`},
	{"deployments.apps", fmt.Sprintf(deployment, "1.27"), fmt.Sprintf(deployment, "1.28")},
}

// deployment is a Deployment whose rollout is complete. observedGeneration is so large that the generation, which each
// change increments, never exceeds it.
const deployment = `{"metadata":{"name":"web","labels":{"app":"web"}},` +
	`"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"web","image":"nginx:%s"}]}}},"status":{"observedGeneration":1000000,` +
	`"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,"conditions":[{"type":"Available","status":"True"}]}}`

// live creates the objects in fixed and changing. It then changes objects every 20 milliseconds until the test ends.
func live(t *testing.T, server *lwtest.Server) {
	put := func(resource, object string) {
		_, err := server.Put(resource, object)
		require.NoError(t, err)
	}
	for _, o := range fixed {
		put(o[0], o[1])
	}
	for _, o := range changing {
		put(o[0], o[1])
	}
	for range 100 { // reaches resourceVersion 125, which a document mentions
		put("pods", fmt.Sprintf(pod, pending))
		put("pods", fmt.Sprintf(pod, running))
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				change(server, n)
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}

// change switches a Pod between pending and running. Every fifth call also changes the other objects. It ignores
// errors, because the document's commands may write the same objects.
func change(server *lwtest.Server, n int) {
	_, _ = server.Put("pods", fmt.Sprintf(pod, []string{pending, running}[n%2]))
	if n%5 != 0 {
		return
	}
	for _, o := range changing {
		_, _ = server.Put(o[0], o[1+n/5%2])
	}
	if n/5%2 == 0 {
		_, _ = server.Put("pods", worker)
	} else {
		_ = server.Delete("pods", "shop", "worker-0")
	}
}
