// Package scenarios contains tests that every API server must pass. They run against both lwtest's embedded server and
// a real kube-apiserver, to check that both servers behave alike.
package scenarios

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// Cluster is a server under test.
type Cluster struct {
	// URL is the server's URL. Connect returns the options of a transport that sends the given bearer token.
	URL     string
	Connect func(token string) *lwhttp.Options

	Client      *http.Client // sends the requests of the scenarios
	AdminToken  string       // bearer token with all permissions
	NobodyToken string       // valid bearer token without permissions

	Kill   func(context.Context) error // kills the server without a graceful shutdown, but keeps its data
	Start  func(context.Context) error // restarts the server at the same URL and waits until it responds
	Expire func(context.Context) error // expires all earlier resourceVersions and waits until the server responds

	// Protobuf decodes ConfigMaps from protobuf. If it is nil, Run skips the modes that use protobuf.
	Protobuf lw.Codec[*lw.Object]
}

func configMaps(namespace string) lw.Resource {
	return lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}
}

// deadline limits each wait, so that a client that hangs fails its test. A correct client needs far less time.
const deadline = 90 * time.Second

// run is one run of a scenario in one mode.
type run struct {
	*testing.T
	*Cluster
	ns    string // namespace that only this scenario uses
	alone bool   // no other scenario runs at the same time
	minor int    // minor version of the server, because servers do not report their features
	mode
}

// namespace creates a namespace and returns its name.
func (r *run) namespace() string {
	var created struct{ Metadata struct{ Name string } }
	text := r.write(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"generateName":"scenario-"}}`)
	require.NoError(r, json.Unmarshal([]byte(text), &created))
	return created.Metadata.Name
}

// eventually polls until condition returns true. It fails the test after deadline.
func (r *run) eventually(what string, condition func() bool) {
	r.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		require.True(r, time.Now().Before(end), "timed out after %v waiting until %s", deadline, what)
	}
}

// disturb calls one of the cluster's functions that stop the server. That breaks r.Client's idle connections. disturb
// then closes these connections, because the client might not retry a request that it sends over one of them.
func (r *run) disturb(f func(context.Context) error) {
	require.True(r, r.alone, `set "alone" for this scenario in the table`)
	require.NoError(r, f(r.Context()))
	r.Client.CloseIdleConnections()
}

// configMaps returns the URL path of the scenario's ConfigMaps, or of the named ConfigMap.
func (r *run) configMaps(name ...string) string {
	return path.Join(append([]string{"/api/v1/namespaces", r.ns, "configmaps"}, name...)...)
}

func (r *run) widgets(name ...string) string {
	return path.Join(append([]string{"/apis/lw.example.com/v1/namespaces", r.ns, "widgets"}, name...)...)
}

// configMap returns the JSON of a ConfigMap.
func configMap(name, label, value string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"app":"` + label + `"}},"data":{"k":"` + value + `"}}`
}

// create creates n ConfigMaps. Each name consists of prefix and a number below n.
func (r *run) create(n int, prefix string) {
	r.Helper()
	for i := range n {
		r.write(http.MethodPost, r.configMaps(), configMap(prefix+strconv.Itoa(i), "demo", "v"))
	}
}

// do sends a request as administrator and returns the status code and the body. It fails the test if the response is
// incomplete.
func (r *run) do(method, path, body string) (code int, text string) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.URL+path, strings.NewReader(body))
	require.NoError(r, err)
	req.Header.Set("Authorization", "Bearer "+r.AdminToken)
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	} else if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := r.Client.Do(req)
	require.NoError(r, err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	require.NoError(r, err)
	return res.StatusCode, string(all)
}

// minorVersion returns the minor version of the server's release, for example 36.
func (r *run) minorVersion() int {
	r.Helper()
	var version struct{ Minor string }
	_, text := r.do(http.MethodGet, "/version", "")
	require.NoError(r, json.Unmarshal([]byte(text), &version))
	minor, err := strconv.Atoi(version.Minor)
	require.NoError(r, err)
	return minor
}

// write sends a request that must succeed and returns the body of the response.
func (r *run) write(method, path, body string) string {
	r.Helper()
	code, text := r.do(method, path, body)
	require.Less(r, code, 300, "%s %s: %s", method, path, text)
	return text
}

// server requests the list at path and returns its objects by key. It retries while a starting server responds with
// 429.
func (r *run) server(path string) (objects map[string]map[string]any) {
	r.eventually("the server lists "+path, func() bool {
		code, text := r.do(http.MethodGet, path, "")
		require.True(r, code == http.StatusOK || code == http.StatusTooManyRequests, text)
		objects = byKey(r, text)
		return code == http.StatusOK
	})
	return objects
}

// byKey returns the objects of a list by key, without the fields that only some responses contain.
func byKey(t require.TestingT, list string) map[string]map[string]any {
	var body struct {
		Items []map[string]any `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(list), &body))
	objects := make(map[string]map[string]any, len(body.Items))
	for _, item := range body.Items {
		metadata := item["metadata"].(map[string]any)
		delete(metadata, "managedFields")
		delete(item, "kind") // some lists omit their items' kind and apiVersion
		delete(item, "apiVersion")
		namespace, _ := metadata["namespace"].(string)
		objects[lw.Key{Namespace: namespace, Name: metadata["name"].(string)}.String()] = item
	}
	return objects
}
