package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

func discoveries(r lwtest.Request) bool { return r.Verb == "" }

// TestRequestsBeforeTheFirstList checks that a path needs no discovery request, and that names need two, no matter
// how many there are.
func TestRequestsBeforeTheFirstList(t *testing.T) {
	for args, want := range map[string]int{
		"/api/v1/pods": 0, "/api/v1/watch/namespaces/default/pods/a /apis/apps/v1/deployments": 0,
		"pods": 2, "po,deploy.apps,no/n1 events /api/v1/pods": 2,
	} {
		server := start(t, nil)
		create(t, server, "pods", named("a"))
		create(t, server, "nodes", named("n1"))
		code, _, errs := lwcat(t, append([]string{"-s", server.URL, "--once"}, strings.Fields(args)...)...)
		require.Equal(t, exitDone, code, errs)
		require.Len(t, server.Requests(discoveries), want, args)
		require.NotEmpty(t, server.Requests(nil)[want].Verb, args)
	}
}

// TestServerWithoutAggregatedDiscovery simulates a server older than Kubernetes 1.26. Paths must still work.
func TestServerWithoutAggregatedDiscovery(t *testing.T) {
	server := start(t, nil)
	create(t, server, "deployments.apps", named("web"))
	server.Fail(discoveries, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Accept", "application/json") // older servers do not know other media types
		next.ServeHTTP(w, r)
	})
	code, _, errs := lwcat(t, "-s", server.URL, "--once", "deploy", "no")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "the server does not support aggregated discovery, which requires Kubernetes 1.27 or later: specify collections by path, for example /api/v1/pods")
	code, out, errs := lwcat(t, "-s", server.URL, "--once", "/apis/apps/v1/deployments")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, []string{"ADDED Deployment default/web"}, describe(t, out))
}

func TestDiscoveryOfPartlyUnavailableServer(t *testing.T) {
	server := start(t, nil)
	create(t, server, "configmaps", named("a"))
	server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/apis" }, 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		fmt.Fprint(w, `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale","resources":[]}]}]}`)
	})
	code, out, errs := lwcat(t, "-s", server.URL, "--once", "cm")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, "lwcat: some resources could not be discovered: metrics.k8s.io/v1beta1: the aggregated API server does not respond\n", errs)
	require.Equal(t, []string{"ADDED ConfigMap default/a"}, describe(t, out))

	server.Fail(func(r lwtest.Request) bool { return r.URL.Path == "/apis" }, 1, lwtest.Refuse(&lw.StatusError{Code: 503}))
	code, out, errs = lwcat(t, "-s", server.URL, "--once", "cm")
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, errs, "lwcat: some resources could not be discovered: /apis: the server answered 503")
	require.Equal(t, []string{"ADDED ConfigMap default/a"}, describe(t, out))
}
