package lwtest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// kubectlAccept is the Accept header of kubectl v1.36 for discovery.
const kubectlAccept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

type discoveryList struct {
	Kind, APIVersion string
	Items            []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version, Freshness string
			Resources          []struct {
				Resource, Scope, SingularResource string
				ResponseKind                      struct{ Group, Version, Kind string }
				Verbs, ShortNames                 []string
			}
		}
	}
}

func TestAggregatedDiscovery(t *testing.T) {
	s := start(t, nil)
	define(t, s, sample.Definition("things.example.com", "v2", "Thing", ""))
	want := map[string]map[string][]string{
		"/api":  {"": {"configmaps", "events", "namespaces", "nodes", "pods", "secrets", "services"}},
		"/apis": {"apps": {"deployments"}, "apiextensions.k8s.io": {"customresourcedefinitions"}, "lw.example.com": {"widgets"}, "example.com": {"things"}},
	}
	for path, want := range want {
		a := get(t, s.URL+path+"?timeout=32s", "Accept", kubectlAccept)
		require.Equal(t, aggregated, a.Header.Get("Content-Type"))
		require.Equal(t, "Accept", a.Header.Get("Vary"))
		require.Regexp(t, `^"[0-9A-F]{128}"$`, a.Header.Get("Etag"))
		var list discoveryList
		require.NoError(t, json.Unmarshal([]byte(a.Body), &list))
		require.Equal(t, "APIGroupDiscoveryList", list.Kind)
		got := map[string][]string{}
		for _, group := range list.Items {
			require.Len(t, group.Versions, 1)
			require.Equal(t, "Current", group.Versions[0].Freshness)
			for _, r := range group.Versions[0].Resources {
				got[group.Metadata.Name] = append(got[group.Metadata.Name], r.Resource)
				require.Contains(t, []string{"Cluster", "Namespaced"}, r.Scope)
				require.NotEmpty(t, r.SingularResource)
				require.NotEmpty(t, r.ResponseKind.Kind)
				require.Contains(t, r.Verbs, "watch")
			}
		}
		require.Equal(t, want, got)
		again := get(t, s.URL+path, "Accept", kubectlAccept, "If-None-Match", a.Header.Get("Etag"))
		require.Equal(t, http.StatusNotModified, again.Code)
	}
}

func TestUnaggregatedDiscovery(t *testing.T) {
	s := start(t, nil)
	tests := map[string]string{ // maps each path to a substring of its response
		"/api":           `{"kind":"APIVersions","versions":["v1"],`,
		"/apis":          `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","preferredVersion":{"groupVersion":"apps/v1","version":"v1"},`,
		"/apis/apps":     `{"kind":"APIGroup","apiVersion":"v1","name":"apps",`,
		"/api/v1":        `{"categories":["all"],"kind":"Pod","name":"pods","namespaced":true,"shortNames":["po"],"singularName":"pod","verbs":["create","delete","get",`,
		"/apis/apps/v1":  `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"categories":["all"],"kind":"Deployment","name":"deployments",`,
		"/apis/apps/v1/": `{"kind":"APIResourceList",`,
		"/version":       `"gitVersion":"v1.37.2-lwtest"`,
	}
	for path, want := range tests {
		for _, accept := range []string{"", "application/json", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"} {
			a := get(t, s.URL+path, "Accept", accept)
			require.Equal(t, http.StatusOK, a.Code, path)
			require.Contains(t, a.Body, want)
		}
	}
}

func TestHealth(t *testing.T) {
	s := start(t, nil)
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		a := get(t, s.URL+path)
		require.Equal(t, http.StatusOK, a.Code)
		require.Equal(t, "ok", a.Body)
	}
}

func TestNotFound(t *testing.T) {
	s := start(t, nil)
	statuses := map[string]string{
		configMaps + "/missing":                `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"missing\" not found","reason":"NotFound","details":{"name":"missing","kind":"configmaps"},"code":404}`,
		"/api/v1/namespaces/t/widgets?watch=1": `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`,
		"/api/v1/configmaps/a":                 `could not find the requested resource`,
		"/api/v1/namespaces/t/nodes":           `could not find the requested resource`,
		"/api/v1/namespaces/t/pods/a/log":      `could not find the requested resource`,
		"/api/v1/namespaces/t/status":          `could not find the requested resource`,
		"/openapi/v3":                          `could not find the requested resource`,
	}
	for path, want := range statuses {
		a := get(t, s.URL+path)
		require.Equal(t, http.StatusNotFound, a.Code, path)
		require.Contains(t, a.Body, want)
	}
	for _, path := range []string{"/", "/apis/example.com/v1/things", "/apis/example.com", "/apis/apps/v2", "/apis/apps/v2/deployments", "/api/v2/pods", "/metrics"} {
		a := get(t, s.URL+path)
		require.Equal(t, http.StatusNotFound, a.Code, path)
		require.Equal(t, "404 page not found\n", a.Body, path)
	}
	require.Equal(t, http.StatusMethodNotAllowed, request(t, "POST", s.URL+"/version", "").Code)
}

// kubectl v1.36 sends these requests for get, get -w, create, patch, replace and delete.
func TestKubectlRequests(t *testing.T) {
	s := start(t, nil)
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	cms := s.URL + configMaps
	a := request(t, "POST", cms+"?fieldManager=kubectl-create&fieldValidation=Ignore",
		`{"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata":{"name":"x","namespace":"t"}}`+"\n")
	require.Equal(t, http.StatusCreated, a.Code)
	require.Equal(t, "kubectl-create", a.object(t).Metadata.ManagedFields[0].Manager)

	list := get(t, cms+"?limit=500", "Accept", table).table(t)
	require.Equal(t, "x", list.Rows[0].Cells[0])
	w := openWatch(t, cms+"?resourceVersion="+list.Metadata.ResourceVersion+"&watch=true", "Accept", table)

	require.Equal(t, http.StatusOK, get(t, cms+"/x").Code)
	a = request(t, "PATCH", cms+"/x?fieldManager=kubectl-patch", `{"data":{"c":"d"}}`, "Content-Type", "application/merge-patch+json")
	require.Equal(t, map[string]string{"a": "b", "c": "d"}, a.object(t).Data)

	a = request(t, "PUT", cms+"/x?fieldManager=kubectl-replace&fieldValidation=Ignore", get(t, cms+"/x").Body)
	require.Equal(t, http.StatusOK, a.Code)
	a = request(t, "DELETE", cms+"/x", `{"propagationPolicy":"Background"}`)
	require.Equal(t, http.StatusOK, a.Code)
	require.Equal(t, http.StatusNotFound, get(t, cms+"/x").Code)
	for _, kind := range []string{"MODIFIED", "DELETED"} {
		require.Regexp(t, `^\{"type":"`+kind+`".*"rows":\[\{"cells":\["x",`, w.next().line)
	}
}
