package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// burst is the number of changes that the server sends at the same time.
const burst = 1000

// Paths that only this server has.
const (
	openAPIPath  = "/openapi/v2"      // Argo CD reads it; an empty document suffices
	requestsPath = "/bench/requests"  // returns the number of requests so far
	changePath   = "/bench/change?n=" // changes this many objects, one after the other
)

// serve starts the server of the API and returns its URL.
func serve(t task) string {
	server := harness.MustGet(lwtest.Start(nil))
	for i := range t.Types {
		harness.MustGet(server.Put("customresourcedefinitions.apiextensions.k8s.io", definition(i)))
	}
	uids := make([]string, t.Objects) // of the objects to which others belong
	for i := range t.Objects {
		stored := harness.MustGet(server.Put(resource(i%t.Types), object(i, t.Types, 0, uids[owner(i)])))
		if owner(i) == i {
			uids[i] = stored.GetUID()
		}
	}
	revision := 0
	own := map[string]http.HandlerFunc{
		openAPIPath:  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
		requestsPath: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, len(server.Requests(isAPI))) },
		"/bench/change": func(w http.ResponseWriter, r *http.Request) {
			n := harness.MustGet(strconv.Atoi(r.FormValue("n")))
			for i := range n {
				if i%burst == 0 { // otherwise the client would mostly wait for the server, and wake up for each event
					server.StallWatches(false)
					server.StallWatches(true)
				}
				revision++
				harness.MustGet(server.Put(resource(i%t.Types), object(i%t.Objects, t.Types, revision, uids[owner(i%t.Objects)])))
			}
			server.StallWatches(false)
		},
	}
	server.Fail(func(r lwtest.Request) bool { return own[r.URL.Path] != nil }, -1, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		own[r.URL.Path](w, r)
	})
	return server.URL
}

// isAPI reports whether a request belongs to a client.
func isAPI(r lwtest.Request) bool { return !strings.HasPrefix(r.URL.Path, "/bench/") }

func group(i int) string    { return fmt.Sprintf("group%d.example.com", i%30) }
func plural(i int) string   { return fmt.Sprintf("things%d", i) }
func resource(i int) string { return plural(i) + "." + group(i) }

// definition returns the CustomResourceDefinition of type i.
func definition(i int) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": resource(i)},
		"spec": map[string]any{
			"group": group(i), "scope": "Namespaced",
			"names":    map[string]any{"plural": plural(i), "singular": fmt.Sprintf("thing%d", i), "kind": fmt.Sprintf("Thing%d", i)},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true}},
		},
	}
}

// owner returns the object to which object i belongs. Nine of ten objects belong to another object.
func owner(i int) int { return i - i%10 }

func namespace(i, types int) string { return fmt.Sprintf("team-%d", i/types%namespaces) }
func named(i int) string            { return fmt.Sprintf("object-%d", i) }

// object returns object i in its given revision, with 3 kB of JSON.
func object(i, types, revision int, ownerUID string) string {
	metadata := map[string]any{
		"name": named(i), "namespace": namespace(i, types),
		"labels":      map[string]string{"app.kubernetes.io/name": fmt.Sprintf("app-%d", i/10), "team": fmt.Sprintf("team-%d", i%namespaces)},
		"annotations": map[string]string{"example.com/checksum": strings.Repeat(fmt.Sprintf("%08x", i), 8)},
	}
	if o := owner(i); o != i {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": group(o%types) + "/v1", "kind": fmt.Sprintf("Thing%d", o%types), "name": named(o), "uid": ownerUID, "controller": true,
		}}
	}
	var containers []any
	for n := range 6 {
		containers = append(containers, map[string]any{
			"name": fmt.Sprintf("container-%d", n), "image": fmt.Sprintf("registry.example.com/team/app-%d:1.%d", i, n),
			"env":   []any{map[string]any{"name": "REGION", "value": "eu-west-1"}, map[string]any{"name": "INDEX", "value": fmt.Sprint(i * n)}},
			"ports": []any{map[string]any{"name": "http", "containerPort": 8080, "protocol": "TCP"}}, "resources": map[string]any{
				"limits": map[string]any{"cpu": "500m", "memory": "512Mi"}, "requests": map[string]any{"cpu": "100m", "memory": "128Mi"},
			},
		})
	}
	return string(harness.MustGet(json.Marshal(map[string]any{
		"metadata": metadata,
		"spec":     map[string]any{"replicas": 3, "revision": revision, "template": map[string]any{"containers": containers}},
		"status":   map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-01T10:00:00Z"}}},
	})))
}
