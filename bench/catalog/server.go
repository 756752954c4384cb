package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// burst is the number of changes that the server sends at once. If the server sent the changes one by one, the client
// would mostly wait for the server and wake up for each event.
const burst = 1000

// Paths that only this server has.
const (
	openAPIPath  = "/openapi/v2"      // Argo CD reads it; an empty document suffices
	requestsPath = "/bench/requests"  // returns the number of requests that contenders have sent so far
	changePath   = "/bench/change?n=" // changes this many objects, in bursts
)

// serve starts the API server and returns its URL.
func serve(t task) string {
	server := harness.MustGet(lwtest.Start(nil))
	for i := range t.Types {
		harness.MustGet(server.Put("customresourcedefinitions.apiextensions.k8s.io", definition(i)))
	}
	uids := make([]string, t.Objects) // UIDs of the objects to which others belong
	for i := range t.Objects {
		stored := harness.MustGet(server.Put(resource(i%t.Types), object(i, t.Types, 0, uids[owner(i)])))
		if owner(i) == i {
			uids[i] = stored.GetUID()
		}
	}
	var requests atomic.Int64 // lwtest records only the latest 9,000 to 10,000 requests
	revision := 0
	own := map[string]http.HandlerFunc{
		openAPIPath:  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
		requestsPath: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, requests.Load()) },
		"/bench/change": func(w http.ResponseWriter, r *http.Request) {
			n := harness.MustGet(strconv.Atoi(r.FormValue("n")))
			for i := range n {
				if i%burst == 0 { // sends the previous burst, because stalled watches send all missed events when they resume
					server.StallWatches(false)
					server.StallWatches(true)
				}
				revision++
				changed := i % t.Objects
				harness.MustGet(server.Put(resource(changed%t.Types), object(changed, t.Types, revision, uids[owner(changed)])))
			}
			server.StallWatches(false)
		},
	}
	// A Fault can respond to any request, so it also serves the server's own paths.
	server.Fail(nil, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isAPI(r) {
			requests.Add(1)
		}
		if h := own[r.URL.Path]; h != nil {
			next = h
		}
		next.ServeHTTP(w, r)
	})
	return server.URL
}

// isAPI reports whether a contender sent a request, rather than the benchmark itself.
func isAPI(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/bench/") }

// group and plural return the API group and the plural of type i. Several types share each of the 30 groups. resource
// returns the name that lwtest uses for the type.
func group(i int) string    { return fmt.Sprintf("group%d.example.com", i%30) }
func plural(i int) string   { return fmt.Sprintf("things%d", i) }
func resource(i int) string { return plural(i) + "." + group(i) }

// definition returns the CustomResourceDefinition of type i.
func definition(i int) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%q,"singular":"thing%d","kind":"Thing%d"},
		"versions":[{"name":"v1","served":true,"storage":true}]}}`, resource(i), group(i), plural(i), i, i)
}

// owner returns the index of the object to which object i belongs. The first of every ten objects owns the other nine.
func owner(i int) int { return i - i%10 }

// namespace returns the namespace of object i. Consecutive objects have different types but the same namespace, until each
// type has had its turn. So if types is a multiple of ten, an owner and its nine objects share a namespace.
func namespace(i, types int) string { return fmt.Sprintf("team-%d", i/types%namespaces) }
func named(i int) string            { return fmt.Sprintf("object-%d", i) }

// object returns the 3 kB JSON text of object i at a revision.
func object(i, types, revision int, ownerUID string) string {
	owners := "[]"
	if o := owner(i); o != i {
		owners = fmt.Sprintf(`[{"apiVersion":"%s/v1","kind":"Thing%d","name":%q,"uid":%q,"controller":true}]`, group(o%types), o%types, named(o), ownerUID)
	}
	var containers []string
	for n := range 6 {
		containers = append(containers, fmt.Sprintf(`{"name":"container-%[1]d","image":"registry.example.com/team/app-%[2]d:1.%[1]d",
			"env":[{"name":"REGION","value":"eu-west-1"},{"name":"INDEX","value":"%[3]d"}],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],
			"resources":{"limits":{"cpu":"500m","memory":"512Mi"},"requests":{"cpu":"100m","memory":"128Mi"}}}`, n, i, i*n))
	}
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"ownerReferences":%s,"labels":{"app.kubernetes.io/name":"app-%d","team":"team-%d"},
		"annotations":{"example.com/checksum":%q}},"spec":{"replicas":3,"revision":%d,"template":{"containers":[%s]}},
		"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-01T10:00:00Z"}]}}`,
		named(i), namespace(i, types), owners, i/10, i%namespaces, strings.Repeat(fmt.Sprintf("%08x", i), 8), revision, strings.Join(containers, ","))
}
