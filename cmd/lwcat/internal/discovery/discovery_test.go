package discovery_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// server returns fixed responses by path, and 404 for other paths.
type server struct {
	answers map[string]string
	asked   atomic.Int32
}

func (s *server) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	s.asked.Add(1)
	if answer, ok := s.answers[req.Path]; ok {
		return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(answer))}, nil
	}
	return nil, &lw.StatusError{Code: http.StatusNotFound}
}

func ask(t *testing.T, answers map[string]string) (*discovery.Resources, *server) {
	s := &server{answers: answers}
	all, err := discovery.Ask(t.Context(), s)
	require.NoError(t, err)
	return all, s
}

// resource returns a watchable resource in aggregated discovery format.
func resource(plural, singular, kind, short string) string {
	return `{"resource":"` + plural + `","singularResource":"` + singular + `","responseKind":{"kind":"` + kind + `"},"scope":"Namespaced",
		"shortNames":["` + short + `"],"verbs":["get","list","watch"]}`
}

func group(name, version, freshness string, resources ...string) string {
	return `{"metadata":{"name":"` + name + `"},"versions":[{"version":"` + version + `","freshness":"` + freshness + `","resources":[` + strings.Join(resources, ",") + `]}]}`
}

func groups(all ...string) string {
	return `{"kind":"APIGroupDiscoveryList","items":[` + strings.Join(all, ",") + `]}`
}

// cluster contains discovery responses in which several resources share names.
var cluster = map[string]string{
	"/api": groups(group("", "v1", "Current",
		resource("pods", "pod", "Pod", "po"), resource("podtemplates", "podtemplate", "PodTemplate", "x"),
		resource("events", "event", "Event", "ev"), resource("services", "service", "Service", "svc"),
		`{"resource":"componentstatuses","singularResource":"componentstatus","responseKind":{"kind":"ComponentStatus"},"scope":"Cluster","verbs":["get","list"],"shortNames":["cs"]}`,
		`{"resource":"bindings","singularResource":"binding","responseKind":{"kind":"Binding"},"scope":"Namespaced","verbs":["create"]}`,
	)),
	"/apis": groups(
		`{"metadata":{"name":"apps"},"versions":[
			{"version":"v1","freshness":"Current","resources":[`+resource("deployments", "deployment", "Deployment", "deploy")+`]},
			{"version":"v1beta1","freshness":"Current","resources":[`+resource("deployments", "deployment", "Deployment", "deploy")+`]}]}`,
		`{"metadata":{"name":"split.example.com"},"versions":[
			{"version":"v2","resources":[{"resource":"halves","verbs":["get"]}]},{"version":"v1","resources":[`+resource("halves", "half", "Half", "")+`]}]}`,
		group("events.k8s.io", "v1", "Current", resource("events", "event", "Event", "ev")),
		group("metrics.k8s.io", "v1beta1", "Stale"),
		group("serving.knative.dev", "v1", "Current", resource("services", "service", "Service", "ksvc"), resource("po", "p", "PO", "svc")),
		group("odd.example.com", "v1", "Current", resource("odds", "deploy", "Odd", "service"), resource("bindings", "binding", "Binding", "")),
	),
}

// TestFindMatchesKubectl expects the same results as from kubectl's REST mapper, including ambiguous names.
func TestFindMatchesKubectl(t *testing.T) {
	all, s := ask(t, cluster)
	require.EqualValues(t, 2, s.asked.Load())
	for name, want := range map[string]string{
		"pods": "/v1 pods", "pod": "/v1 pods", "Pod": "/v1 pods", "PODS": "/v1 pods", "pods.v1": "/v1 pods", "pods.v1.": "/v1 pods",
		"events":                      "/v1 events", // the core group comes first
		"events.events.k8s.io":        "events.k8s.io/v1 events",
		"events.v1.events.k8s.io":     "events.k8s.io/v1 events",
		"ev.events":                   "events.k8s.io/v1 events", // a prefix of a group
		"deployment":                  "apps/v1 deployments",
		"deploy":                      "apps/v1 deployments", // short names precede singular names
		"deploy.apps":                 "apps/v1 deployments",
		"deployments.v1beta1.apps":    "apps/v1beta1 deployments",
		"Deployment.v1.apps":          "apps/v1 deployments",
		"svc":                         "/v1 services",
		"services":                    "/v1 services",
		"service":                     "odd.example.com/v1 odds",
		"services.serving.knative":    "serving.knative.dev/v1 services",
		"ksvc":                        "serving.knative.dev/v1 services",
		"po":                          "serving.knative.dev/v1 po", // plural names precede short names
		"bindings.odd.example.com":    "odd.example.com/v1 bindings",
		"svc.serving.knative.dev":     "serving.knative.dev/v1 po",
		"svc.v1.serving.knative.dev":  "serving.knative.dev/v1 po",
		"Service.serving.knative.dev": "serving.knative.dev/v1 services",
	} {
		found, err := all.Find(name)
		require.NoError(t, err, name)
		require.Equal(t, want, found.Group+"/"+found.Version+" "+found.Resource, name)
	}
}

func TestFindErrors(t *testing.T) {
	all, _ := ask(t, cluster)
	for name, want := range map[string]string{
		"componentstatuses": "componentstatuses cannot be watched: the server only supports get, list",
		"cs":                "componentstatuses cannot be watched: the server only supports get, list",
		"bindings":          "bindings cannot be watched: the server only supports create",
		"pdos":              `the server has no resource "pdos"; did you mean pods?`,
		"podd":              `the server has no resource "podd"; did you mean pods, odds?`,
		"deploys":           `the server has no resource "deploys"; did you mean deployments?`,
		"nosuch":            `the server has no resource "nosuch"`,
		"deployment.app.x":  `the server has no resource "deployment.app.x"; did you mean deployments?`,
	} {
		_, err := all.Find(name)
		require.EqualError(t, err, want, name)
	}
}

// TestFindsAllCompletionNames checks that Find accepts every name that Names returns.
func TestFindsAllCompletionNames(t *testing.T) {
	all, _ := ask(t, cluster)
	var names []string
	for _, name := range all.Names() {
		found, err := all.Find(name.Name)
		require.NoError(t, err)
		require.Equal(t, name.TypeInfo, found)
		names = append(names, name.Name)
	}
	require.Equal(t, "pods podtemplates events services deployments events.events.k8s.io services.serving.knative.dev po odds bindings.odd.example.com",
		strings.Join(names, " "))
}

// TestPartlyUnavailableServer checks that Find still finds resources in the groups that are available.
func TestPartlyUnavailableServer(t *testing.T) {
	all, _ := ask(t, cluster)
	require.Len(t, all.Missing, 1)
	require.EqualError(t, all.Missing["metrics.k8s.io/v1beta1"], "metrics.k8s.io/v1beta1: the aggregated API server does not respond")

	all, _ = ask(t, map[string]string{"/api": cluster["/api"]})
	require.Len(t, all.Missing, 1)
	require.EqualError(t, all.Missing["/apis"], "/apis: the server answered 404")
	_, err := all.Find("pods")
	require.NoError(t, err)

	for answer, want := range map[string]string{
		"":                       "/api: the server answered 404",
		"<html>":                 "/api: the response is not JSON",
		`{"kind":"Pod"}`:         `/api: expected a discovery document, got kind "Pod"`,
		`{"kind":"APIVersions"`:  "/api: unexpected EOF",
		`{"kind":"APIVersions"}`: "/api: the server does not support aggregated discovery, which requires Kubernetes 1.27 or later: specify collections by path, for example /api/v1/pods",
	} {
		s := &server{answers: map[string]string{"/api": answer}}
		if answer == "" {
			s.answers = nil
		}
		_, err := discovery.Ask(t.Context(), s)
		require.ErrorContains(t, err, "discovering the server's resources: "+want)
	}
}
