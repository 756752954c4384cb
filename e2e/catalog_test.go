package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// follower runs a catalog and applies its changes.
type follower struct {
	*catalog.Catalog
	t       *testing.T
	cluster *kube.Cluster

	mu      sync.Mutex
	objects map[catalog.Ref]*lw.Object // the objects that result from the changes
}

func followCluster(t *testing.T, c *kube.Cluster, token string, opts *catalog.Options) *follower {
	transport, err := lwhttp.New(c.URL, &lwhttp.Options{CAData: c.CAPEM, Token: token})
	require.NoError(t, err)
	f := &follower{Catalog: catalog.New(transport, opts), t: t, cluster: c, objects: map[catalog.Ref]*lw.Object{}}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = f.Run(ctx) })
	running.Go(func() {
		for change := range f.Changes(ctx, nil) {
			f.apply(change)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		transport.Close()
	})
	return f
}

// apply applies a change, and fails the test if the change contradicts the earlier changes.
func (f *follower) apply(change catalog.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	object := change.New
	if object == nil {
		object = change.Old
	}
	if object == nil {
		return // this change only reports that the type has synced
	}
	ref := catalog.Ref{Type: change.Resource, Key: lw.KeyOf(object)}
	_, known := f.objects[ref]
	assert.Equal(f.t, change.Type != lw.Added, known, "%s of %s", change.Type, ref)
	if f.objects[ref] = change.New; change.Type == lw.Deleted {
		delete(f.objects, ref)
	}
}

// versions returns the resourceVersion of each object of a type. It reads held from the catalog's snapshot, and changed
// from the objects that result from the changes.
func (f *follower) versions(of catalog.Type) (held, changed map[lw.Key]string) {
	held, changed = map[lw.Key]string{}, map[lw.Key]string{}
	listed, err := f.Snapshot().List(of, "", "")
	require.NoError(f.t, err)
	for ref, object := range listed {
		held[ref.Key] = object.GetResourceVersion()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for ref, object := range f.objects {
		if ref.Type == of {
			changed[ref.Key] = object.GetResourceVersion()
		}
	}
	return held, changed
}

// write repeats a request as admin until it succeeds, or until the server answers with one of the status codes.
func (f *follower) write(method, path, body string, codes ...int) {
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	assert.Eventually(f.t, func() bool { // while the server prepares the storage of a new type, it rejects writes with 429
		code, _, err := f.cluster.Do(f.t.Context(), method, path, contentType, body)
		return err == nil && (code < 300 || slices.Contains(codes, code))
	}, time.Minute, 100*time.Millisecond, "%s %s", method, path)
}

// listed returns the resourceVersion of each object that the server lists at a path. ok is false if the server does not
// serve the type.
func (f *follower) listed(path string) (versions map[lw.Key]string, ok bool) {
	code, body, err := f.cluster.Do(f.t.Context(), http.MethodGet, path, "", "")
	require.NoError(f.t, err)
	if code != http.StatusOK {
		return nil, false
	}
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name, ResourceVersion string }
		}
	}
	require.NoError(f.t, json.Unmarshal(body, &list))
	versions = map[lw.Key]string{}
	for _, item := range list.Items {
		versions[lw.Key{Namespace: item.Metadata.Namespace, Name: item.Metadata.Name}] = item.Metadata.ResourceVersion
	}
	return versions, true
}

// await polls until check returns true. It fails the test after three minutes.
func (f *follower) await(condition string, check func() bool) {
	f.t.Helper()
	ctx, stop := context.WithTimeout(f.t.Context(), 3*time.Minute)
	defer stop()
	require.NoError(f.t, kube.Poll(ctx, condition, func(ctx context.Context) error {
		if !check() {
			return fmt.Errorf("the statuses are %s", f.describe())
		}
		return nil
	}))
}

func (f *follower) describe() (text string) {
	if f.Catalog == nil {
		return "not known yet"
	}
	for _, s := range f.Statuses() {
		if s.State != catalog.Live || len(s.Namespaces) > 0 {
			text += fmt.Sprintf("%s %s %v %v %v; ", s.Type, s.State, s.Cause, s.Namespaces, s.Denied)
		}
	}
	return text
}

// customType is one of the types that a test creates, changes and deletes.
type customType struct {
	catalog.Type
	kind string
}

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// path returns the path of the objects in a namespace, or in all namespaces if namespace is empty.
func (c customType) path(version, namespace string) string {
	if namespace != "" {
		namespace = "/namespaces/" + namespace
	}
	return "/apis/" + c.Group + "/" + version + namespace + "/" + c.Resource
}

// definition returns a CustomResourceDefinition that serves the given versions. The first version is the storage
// version. The server prefers the highest version.
func (c customType) definition(versions ...string) string {
	var list []any
	for _, version := range []string{"v1", "v2"} {
		list = append(list, map[string]any{"name": version, "served": slices.Contains(versions, version), "storage": version == versions[0], "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}})
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": c.String()},
		"spec": map[string]any{"group": c.Group, "scope": "Namespaced", "versions": list, "names": map[string]any{"plural": c.Resource, "kind": c.kind}},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// exercise creates the type and some objects, and then changes both. It returns the version that the server prefers at
// the end, or "" if the type no longer exists.
func (f *follower) exercise(c customType, random *rand.Rand) (version string) {
	served := func(version string) {
		f.await(c.String()+" "+version, func() bool {
			_, ok := f.listed(c.path(version, ""))
			return ok
		})
	}
	change := func(version string) {
		for range 10 {
			name := fmt.Sprintf("o-%d", random.IntN(5))
			namespace := []string{"default", "kube-system"}[random.IntN(2)]
			at := c.path(version, namespace)
			switch random.IntN(4) {
			case 0:
				f.write(http.MethodDelete, at+"/"+name, "", http.StatusNotFound)
			case 1:
				f.write(http.MethodPatch, at+"/"+name, fmt.Sprintf(`{"n":%d}`, random.IntN(1000)), http.StatusNotFound)
			default:
				f.write(http.MethodPost, at, fmt.Sprintf(`{"apiVersion":"%s/%s","kind":%q,"metadata":{"name":%q}}`, c.Group, version, c.kind, name), http.StatusConflict)
			}
		}
	}
	create := func(version string) {
		f.write(http.MethodPost, definitionsPath, c.definition(version))
		served(version)
		change(version)
	}
	remove := func() {
		f.write(http.MethodDelete, definitionsPath+"/"+c.String(), "")
		f.await(c.String()+" to be deleted", func() bool {
			code, _, err := f.cluster.Do(f.t.Context(), http.MethodGet, definitionsPath+"/"+c.String(), "", "")
			return err == nil && code == http.StatusNotFound
		})
	}
	create("v1")
	switch random.IntN(5) {
	case 0:
		remove()
		return ""
	case 1: // the type is deleted and recreated with other objects
		remove()
		create("v2")
		return "v2"
	case 2: // the server prefers another version
		f.write(http.MethodPatch, definitionsPath+"/"+c.String(), c.definition("v1", "v2"))
		served("v2")
		change("v1")
		change("v2")
		return "v2"
	case 3: // the server no longer has the version that the catalog follows
		f.write(http.MethodPatch, definitionsPath+"/"+c.String(), c.definition("v2"))
		served("v2")
		change("v2")
		return "v2"
	}
	change("v1")
	return "v1"
}

// TestCatalogFollowsDefinitionsUnderLoad creates, changes and deletes 100 definitions while objects change. At the end,
// the catalog must contain the server's objects, and its changes must not contradict each other.
func TestCatalogFollowsDefinitionsUnderLoad(t *testing.T) {
	c := kube.Start(t)
	f := followCluster(t, c, c.AdminToken, nil)
	require.NoError(t, f.WaitSynced(t.Context()))
	var mu sync.Mutex
	versions := map[customType]string{}
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for i := worker; i < 100; i += 4 {
				of := customType{catalog.Type{Group: fmt.Sprintf("group%d.example.com", i%10), Resource: fmt.Sprintf("thing%ds", i)}, fmt.Sprintf("Thing%d", i)}
				version := f.exercise(of, random)
				mu.Lock()
				versions[of] = version
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	require.Len(t, versions, 100)
	f.await("all types to be live or forgotten", func() bool {
		for _, status := range f.Statuses() {
			if status.State != catalog.Live {
				return false
			}
		}
		for of, version := range versions {
			if !slices.ContainsFunc(f.Statuses(), func(s catalog.Status) bool { return s.Type == of.Type && s.Version == version }) != (version == "") {
				return false
			}
		}
		return true
	})
	for of, version := range versions {
		want, ok := map[lw.Key]string{}, false
		if version != "" {
			want, ok = f.listed(of.path(version, ""))
			require.True(t, ok, "%s", of)
		}
		f.requireObjects(of.Type, want)
	}
	require.NoError(t, f.WaitSynced(t.Context()))
}

// requireObjects waits until the snapshot and the changes describe exactly these objects.
func (f *follower) requireObjects(of catalog.Type, want map[lw.Key]string) {
	f.t.Helper()
	f.await("the objects of "+of.String(), func() bool {
		held, changed := f.versions(of)
		return maps.Equal(want, held) && maps.Equal(want, changed)
	})
}

// TestCatalogFollowsPermittedNamespaces grants a user access to two of five namespaces, then to others, and then to
// all.
func TestCatalogFollowsPermittedNamespaces(t *testing.T) {
	for name, namespaces := range map[string][]string{"configured": {"a", "b", "c", "d", "e"}, "listed": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each test uses its own cluster and mostly waits
			testPermittedNamespaces(t, namespaces)
		})
	}
}

const rbacPath = "/apis/rbac.authorization.k8s.io/v1"

func testPermittedNamespaces(t *testing.T, namespaces []string) {
	c := kube.Start(t)
	configmaps, secrets := catalog.Type{Resource: "configmaps"}, catalog.Type{Resource: "secrets"}
	f := &follower{t: t, cluster: c} // this follower only writes, and does not run its catalog
	role := func(name, resource string) string {
		return `{"metadata":{"name":"` + name + `"},"rules":[{"apiGroups":[""],"resources":["` + resource + `"],"verbs":["list","watch"]}]}`
	}
	binding := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + name + `"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"nobody"}]}`
	}
	grant := func(namespace string) {
		f.write(http.MethodPost, rbacPath+"/namespaces/"+namespace+"/rolebindings", binding("read"))
	}
	put := func(namespace, name string) {
		f.write(http.MethodPost, "/api/v1/namespaces/"+namespace+"/configmaps", `{"metadata":{"name":"`+name+`"}}`)
	}
	f.write(http.MethodPost, rbacPath+"/clusterroles", role("read", "configmaps"))
	if namespaces == nil {
		f.write(http.MethodPost, rbacPath+"/clusterroles", role("list-namespaces", "namespaces"))
		f.write(http.MethodPost, rbacPath+"/clusterrolebindings", binding("list-namespaces"))
	}
	for _, namespace := range []string{"a", "b", "c", "d", "e"} {
		f.write(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+namespace+`"}}`)
		put(namespace, "first")
	}
	grant("a")
	grant("b")
	f.await("the permission", func() bool {
		return codeOf(t, c, "/api/v1/namespaces/a/configmaps") == http.StatusOK && codeOf(t, c, "/api/v1/namespaces/b/configmaps") == http.StatusOK &&
			(namespaces != nil || codeOf(t, c, "/api/v1/namespaces") == http.StatusOK)
	})

	f = followCluster(t, c, c.NobodyToken, &catalog.Options{Namespaces: namespaces, Follow: func(info catalog.TypeInfo) *catalog.Settings {
		if info.Type == configmaps || info.Type == secrets {
			return &catalog.Settings{}
		}
		return nil
	}})
	var failed *catalog.SyncError
	require.ErrorAs(t, f.WaitSynced(t.Context()), &failed)
	require.Len(t, failed.Failed, 1)
	require.Equal(t, secrets, failed.Failed[0].Type)
	require.Equal(t, catalog.Forbidden, failed.Failed[0].State)
	await := func(followed ...string) {
		f.await(fmt.Sprint("the namespaces ", followed), func() bool {
			for _, status := range f.Statuses() {
				if status.Type == configmaps && status.State == catalog.Live && slices.Equal(status.Namespaces, followed) {
					return followed == nil && status.Denied == nil || slices.Contains(status.Denied, "e")
				}
			}
			return false
		})
	}
	// objects returns the resourceVersions of the ConfigMaps that the server has in the given namespaces.
	objects := func(namespaces ...string) map[lw.Key]string {
		want := map[lw.Key]string{}
		for _, namespace := range namespaces {
			versions, _ := f.listed("/api/v1/namespaces/" + namespace + "/configmaps")
			maps.Copy(want, versions)
		}
		return want
	}
	await("a", "b")
	put("a", "second")
	put("e", "hidden")
	f.requireObjects(configmaps, objects("a", "b"))

	grant("c")
	await("a", "b", "c")
	f.requireObjects(configmaps, objects("a", "b", "c"))

	// The server checks permissions only when a request begins, so open watches keep working without permission. The
	// test therefore restarts the server, which ends the watches.
	kept := objects("a")
	f.write(http.MethodDelete, rbacPath+"/namespaces/a/rolebindings/read", "")
	c.Kill()
	require.NoError(t, c.StartAPIServer(t.Context()))
	await("b", "c")
	f.write(http.MethodDelete, "/api/v1/namespaces/a/configmaps/first", "")
	put("b", "third")
	want := objects("b", "c")
	maps.Copy(want, kept) // the catalog keeps these objects, because it cannot find out whether they still exist
	f.requireObjects(configmaps, want)

	f.write(http.MethodPost, rbacPath+"/clusterrolebindings", binding("read"))
	await()
	all, _ := f.listed("/api/v1/configmaps")
	f.requireObjects(configmaps, all)
}

// codeOf returns the status code of a GET request by the user nobody, who has only the permissions that the test
// grants.
func codeOf(t *testing.T, c *kube.Cluster, path string) int {
	client := c.HTTPClient()
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+c.NobodyToken)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	return response.StatusCode
}
