package lwtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writes are the events in a server's log: type, collection and key.
func writes(t testing.TB, s *Server) (list []string) {
	t.Helper()
	for _, res := range s.registered() {
		cursor, err := s.log.Watch(res.id(), 1)
		require.NoError(t, err)
		events, err := cursor.Next(1 << 30)
		require.NoError(t, err)
		for _, e := range events {
			list = append(list, fmt.Sprintf("%08d %d %s %s", e.Entry.Revision, e.Type, res.id(), e.Entry.Key))
		}
	}
	slices.Sort(list)
	return list
}

func played(t testing.TB, seed uint64, steps int, began time.Time) *Server {
	t.Helper()
	s := start(t, nil)
	d := newDemo(s, seed, began)
	for range steps {
		d.advance()
	}
	return s
}

func TestTheDemoIsTheSameForTheSameSeed(t *testing.T) {
	a := writes(t, played(t, 1, 150, time.Unix(0, 0)))
	b := writes(t, played(t, 1, 150, time.Now()))
	require.Equal(t, a, b)
	require.NotEqual(t, a, writes(t, played(t, 2, 150, time.Now())))
	perSecond := float64(len(a)) / (150 * demoStep.Seconds())
	require.Greater(t, perSecond, 3.0)
	require.Less(t, perSecond, 20.0)
}

func TestTheDemoShowsEveryStageOfAPod(t *testing.T) {
	s := played(t, 1, 600, time.Now())
	cursor, err := s.log.Watch("pods", 1)
	require.NoError(t, err)
	events, err := cursor.Next(1 << 30)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, e := range events {
		var pod struct {
			Metadata struct {
				DeletionTimestamp string
				OwnerReferences   []any
				ManagedFields     []any
			}
			Spec   struct{ NodeName string }
			Status struct {
				Phase             string
				Conditions        []struct{ Type, Status string }
				ContainerStatuses []struct {
					Ready bool
					State map[string]struct{ Reason string }
				}
			}
		}
		require.NoError(t, json.Unmarshal(e.Entry.Value.item, &pod))
		require.Len(t, pod.Metadata.OwnerReferences, 1)
		require.NotEmpty(t, pod.Metadata.ManagedFields)
		seen[pod.Status.Phase] = true
		seen["scheduled"] = seen["scheduled"] || pod.Spec.NodeName != ""
		seen["terminating"] = seen["terminating"] || pod.Metadata.DeletionTimestamp != ""
		for _, c := range pod.Status.ContainerStatuses {
			for state, detail := range c.State {
				seen[state+" "+detail.Reason] = true
			}
		}
	}
	for _, want := range []string{"Pending", "Running", "Succeeded", "Failed", "scheduled", "terminating",
		"waiting ContainerCreating", "waiting CrashLoopBackOff", "running ", "terminated Completed", "terminated Error"} {
		require.True(t, seen[want], "%q is not among %v", want, seen)
	}
	all := strings.Join(writes(t, s), "\n")
	for _, resource := range []string{"nodes", "namespaces", "pods", "events", "configmaps", "services", "deployments.apps"} {
		require.Contains(t, all, " "+resource+" ")
	}
	require.Contains(t, all, " 1 nodes node-3", "a heartbeat")
	_, kept := s.State("events")
	require.Len(t, kept, maxDemoEvents)
}

func TestTheDemoLivesWithWhatOthersDo(t *testing.T) {
	s := start(t, nil)
	d := newDemo(s, 3, time.Now())
	podsOf := func(app string) (n int) {
		_, pods := s.State("pods")
		for key := range pods {
			if strings.HasPrefix(key, app) {
				n++
			}
		}
		return n
	}
	advance := func(what string, until func() bool) {
		for range 1000 {
			if until() {
				return
			}
			d.advance()
		}
		require.Fail(t, what)
	}
	advance("pods come", func() bool { return podsOf("shop/web-") > 0 })

	require.NoError(t, s.Delete("deployments.apps", "shop", "web"))
	advance("a deleted deployment's pods go", func() bool { return podsOf("shop/web-") == 0 })
	for range 200 {
		d.advance()
	}
	require.Zero(t, podsOf("shop/web-"), "and stay away")

	_, pods := s.State("pods")
	for key := range pods {
		namespace, name, _ := strings.Cut(key, "/")
		require.NoError(t, s.Delete("pods", namespace, name))
	}
	advance("deleted pods are replaced", func() bool { return podsOf("shop/cart-") > 0 })
	require.NoError(t, s.Delete("nodes", "", "node-1"))
	s.RemoveResource("events")
	s.RemoveResource("deployments.apps")
	for range 200 {
		d.advance()
	}
}

func TestRunDemoEndsWithItsContext(t *testing.T) {
	s := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.RunDemo(ctx, &DemoOptions{Seed: 1, Speed: 100})
	}()
	eventually(t, "the cluster is alive", func() bool { return s.Revision() > 100 })
	cancel()
	<-done
	cancelled := s.Revision()
	s.RunDemo(ctx, nil)
	s.RunDemo(ctx, &DemoOptions{Speed: -1})
	require.GreaterOrEqual(t, s.Revision(), cancelled)
}
