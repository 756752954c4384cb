package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	runtimestats "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestDeletionDuringOutage creates and deletes an object while the watch is down. controller-runtime's own client waits
// for the deletion event, which never arrives, because the cache relists. So all later lists of that client fail.
func TestDeletionDuringOutage(t *testing.T) {
	wedge := func(t *testing.T, newCache cache.NewCacheFunc, newClient client.NewClientFunc, opts client.CacheOptions) error {
		server := startServer(t)
		c := start(t, server, newCache, cache.Options{})
		opts.Reader = c
		writer, err := newClient(&rest.Config{Host: server.URL, ContentConfig: jsonOnly}, client.Options{Cache: &opts})
		require.NoError(t, err)
		require.NoError(t, writer.List(t.Context(), &corev1.ConfigMapList{}))
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 1 })
		restore := server.Fail(lwtest.Watches, -1, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
		server.CloseWatches()
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 0 })
		object := configMap("a")
		require.NoError(t, writer.Create(t.Context(), object))
		require.NoError(t, writer.Delete(t.Context(), object))
		server.Compact()
		restore()
		eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 1 })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var list corev1.ConfigMapList
		err = writer.List(ctx, &list)
		require.Empty(t, list.Items)
		return err
	}
	t.Run("controller-runtime", func(t *testing.T) {
		err := wedge(t, NewCache, client.New, client.CacheOptions{EnableReadYourWritesConsistency: new(true)})
		require.ErrorIs(t, err, context.DeadlineExceeded, "controller-runtime's client no longer blocks: adapt the documentation")
	})
	t.Run("listwatch", func(t *testing.T) {
		require.NoError(t, wedge(t, NewCache, ReadYourWrites{}.NewClient, client.CacheOptions{}))
	})
}

var jsonOnly = rest.ContentConfig{ContentType: "application/json"} // lwtest serves no protobuf

// startClient returns a client from [ReadYourWrites] that reads from a cache of this package. Its time limits are long,
// because a busy machine can deliver an event late.
func startClient(t *testing.T, server *lwtest.Server, opts cache.Options, reads client.CacheOptions) client.Client {
	reads.Reader = startCache(t, server, opts)
	c, err := ReadYourWrites{}.NewClient(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: jsonOnly}, client.Options{Cache: &reads})
	require.NoError(t, err)
	patient := c.(*consistentClient)
	patient.timeout, patient.healthyTimeout, patient.askAfter = 2*time.Minute, 2*time.Minute, 2*time.Minute
	return c
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

func TestClientNeedsSuitableCache(t *testing.T) {
	server := startServer(t)
	config := &rest.Config{Host: server.URL}
	create := func(newCache cache.NewCacheFunc, opts client.CacheOptions) error {
		opts.Reader = start(t, server, newCache, cache.Options{})
		_, err := ReadYourWrites{}.NewClient(config, client.Options{Cache: &opts})
		return err
	}
	require.ErrorContains(t, create(cache.New, client.CacheOptions{}), "needs a cache from NewCache")
	require.ErrorContains(t, create(NewCache, client.CacheOptions{EnableReadYourWritesConsistency: new(true)}), "replaces EnableReadYourWritesConsistency")
	require.ErrorContains(t, create(Options{StateDir: t.TempDir()}.NewCache, client.CacheOptions{}), "cannot be combined with StateDir")
	require.NoError(t, create(NewCache, client.CacheOptions{}))
	_, err := ReadYourWrites{}.NewClient(config, client.Options{})
	require.NoError(t, err, "without a cache, all reads are current")
}

func TestDeleteAllOfIsRefused(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.ErrorIs(t, c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("shop")), ErrDeleteAllOf)
	require.Empty(t, server.Requests(func(r lwtest.Request) bool { return r.Method == "DELETE" }))
	require.NotErrorIs(t, c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("shop"), client.DryRunAll), ErrDeleteAllOf)
}

func TestWriteStartsNoInformer(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	object := configMap("a")
	require.NoError(t, c.Create(t.Context(), object))
	object.Data = map[string]string{"k": "v"}
	require.NoError(t, c.Update(t.Context(), object))
	require.NoError(t, c.Delete(t.Context(), object))
	require.Empty(t, server.Requests(func(r lwtest.Request) bool { return lwtest.Lists(r) || lwtest.Watches(r) }))
}

// TestReadReturnsStaleReadError stalls the watch, so that the cache cannot contain a write.
func TestReadReturnsStaleReadError(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	server.StallWatches(true)
	defer server.StallWatches(false)
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := c.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "a"}, &corev1.ConfigMap{})
	stale, ok := errors.AsType[*StaleReadError](err)
	require.True(t, ok, err)
	require.Equal(t, "shop/a", stale.Key.String())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "the cache does not contain the last write to ConfigMap shop/a yet; its watch is live")
	// Reads of other objects, reads in other namespaces and reads with the option do not wait.
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "b"}, &corev1.ConfigMap{})))
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("other")))
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}, client.DisableReadYourWritesConsistency))
}

// holdResponse makes the server hold back its response to the first matching request. The server closes performed when it
// has performed the request, and responds when the caller closes proceed.
func holdResponse(server *lwtest.Server, match func(lwtest.Request) bool) (performed, proceed chan bool) {
	performed, proceed = make(chan bool), make(chan bool)
	server.Fail(match, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		close(performed)
		<-proceed
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(recorded.Body.Bytes())
	})
	return performed, proceed
}

// TestWriteOutsideOfSelector checks that a read knows the selectors of the cache. The read must ask the server only if
// a selector uses fields other than the name and the namespace.
func TestWriteOutsideOfSelector(t *testing.T) {
	server := startServer(t)
	asked := func() int {
		return len(server.Requests(func(r lwtest.Request) bool { return r.URL.Query().Get("limit") == "1" }))
	}
	c := startClient(t, server, cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"tier": "web"})},
		&corev1.Pod{}:       {Field: fields.OneTermEqualSelector("spec.nodeName", "n1")},
		&corev1.Secret{}:    {Field: fields.OneTermEqualSelector("metadata.name", "b")},
	}}, client.CacheOptions{})
	c.(*consistentClient).askAfter = askAfter
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	for object, want := range map[client.Object]int{configMap("a"): 0, secret: 0, &corev1.Pod{ObjectMeta: secret.ObjectMeta}: 1} {
		require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, object.DeepCopyObject().(client.Object))))
		before := asked()
		require.NoError(t, c.Create(t.Context(), object))
		for range 2 {
			require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, object.DeepCopyObject().(client.Object))))
		}
		require.Equal(t, want, asked()-before, "%T", object)
	}
	object := configMap("b")
	object.Labels = map[string]string{"tier": "web"}
	require.NoError(t, c.Create(t.Context(), object))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	object.Labels = map[string]string{"tier": "db"}
	require.NoError(t, c.Update(t.Context(), object))
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(object), object)))
}

// A name may contain characters that have a meaning in a field selector.
func TestAsksForAnyName(t *testing.T) {
	server := startServer(t)
	define(t, server, "roles.rbac.authorization.k8s.io", "Role")
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	c.(*consistentClient).askAfter = time.Millisecond
	require.NoError(t, c.List(t.Context(), &rbacv1.RoleList{}))
	server.StallWatches(true)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a=b,c"}}
	require.NoError(t, c.Create(t.Context(), role))
	read := make(chan error, 1)
	go func() { read <- c.Get(t.Context(), client.ObjectKeyFromObject(role), &rbacv1.Role{}) }()
	require.Eventually(t, func() bool {
		return len(server.Requests(func(r lwtest.Request) bool { return r.URL.Query().Get("fieldSelector") == `metadata.name=a\=b\,c` })) > 0
	}, time.Minute, time.Millisecond)
	server.StallWatches(false)
	require.NoError(t, <-read)
}

// TestReadWithInformersForOneNamespaceAndAllOthers writes in a namespace with its own informer. controller-runtime
// excludes this namespace from the other informer with a field selector, so reads must not wait for the other informer.
func TestReadWithInformersForOneNamespaceAndAllOthers(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{DefaultNamespaces: map[string]cache.Config{"shop": {}, cache.AllNamespaces: {}}}, client.CacheOptions{})
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	other := configMap("b")
	other.Namespace = "other"
	for _, object := range []client.Object{configMap("a"), other} {
		require.NoError(t, c.Create(t.Context(), object))
		read := make(chan error, 1)
		go func() { read <- c.Get(t.Context(), client.ObjectKeyFromObject(object), &corev1.ConfigMap{}) }()
		select {
		case err := <-read:
			require.NoError(t, err)
		case <-time.After(30 * time.Second):
			require.Fail(t, "the read did not end within 30 seconds")
		}
	}
	require.Empty(t, server.Requests(func(r lwtest.Request) bool { return r.URL.Query().Get("limit") == "1" }))
}

func TestUncachedReadsDoNotWait(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}})
	typed := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	require.NoError(t, c.Create(t.Context(), typed))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(typed), typed))
	object := widget()
	object.SetNamespace("shop")
	object.SetName("a")
	require.NoError(t, c.Create(t.Context(), object))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	require.Empty(t, server.Requests(lwtest.Watches))

	// A controller may follow a kind that the client reads from the server.
	reads := c.(*consistentClient).reads
	_, err := reads.GetInformer(t.Context(), &corev1.Secret{})
	require.NoError(t, err)
	server.StallWatches(true)
	defer server.StallWatches(false)
	typed.Data = map[string][]byte{"k": []byte("v")}
	require.NoError(t, c.Update(t.Context(), typed))
	require.Empty(t, c.(*consistentClient).followers(typed))
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(typed), typed))
}

// TestReadShowsUnstructuredWrites writes a custom resource and reads its metadata, which another informer follows.
func TestReadShowsUnstructuredWrites(t *testing.T) {
	c := startClient(t, startServer(t), cache.Options{}, client.CacheOptions{Unstructured: true})
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(widget().GroupVersionKind())
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, partial)))
	object := widget()
	object.SetNamespace("shop")
	object.SetName("a")
	require.NoError(t, c.Create(t.Context(), object))
	require.NoError(t, c.Get(t.Context(), key, partial))
	require.NoError(t, c.Get(t.Context(), key, object))
	require.NoError(t, c.Delete(t.Context(), object))
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, partial)))
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, object)))
}

// TestReadShowsBinding writes a subresource whose response does not contain the object.
func TestReadShowsBinding(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	require.NoError(t, c.Create(t.Context(), pod))
	require.NoError(t, c.Get(t.Context(), key, pod))
	server.StallWatches(true)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}, Target: corev1.ObjectReference{Name: "n1"}}
	require.NoError(t, c.SubResource("binding").Create(t.Context(), pod, binding))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Get(ctx, key, pod), context.DeadlineExceeded)
	server.StallWatches(false)
	require.NoError(t, c.Get(t.Context(), key, pod))
	require.Equal(t, "n1", pod.Spec.NodeName)
}

// A read after Apply, or after a write to a subresource, must wait for the resourceVersion in the response. lwtest serves
// neither, so the test answers these writes itself, with a resourceVersion that the cache reaches only later.
func TestReadShowsSubresources(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	put(t, server, "a", "web:1")
	pod := &corev1.Pod{}
	require.NoError(t, c.Get(t.Context(), key, pod))
	writes := func(r lwtest.Request) bool { return r.Method == "PUT" || r.Method == "PATCH" }
	server.Fail(writes, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		_, pods := server.State("pods")
		version, _ := strconv.Atoi(pods["shop/a"].GetResourceVersion())
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","resourceVersion":"%d"}}`, version+1)
	})
	patch := client.RawPatch(types.MergePatchType, []byte("{}"))
	applied := func() runtime.ApplyConfiguration { return corev1apply.Pod("a", "shop") }
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "shop"}}}
	for name, write := range map[string]func() error{
		"Update":             func() error { return c.Update(t.Context(), pod.DeepCopy()) },
		"Patch":              func() error { return c.Patch(t.Context(), pod.DeepCopy(), patch) },
		"Apply":              func() error { return c.Apply(t.Context(), applied()) },
		"unstructured Apply": func() error { return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u)) },
		"status Update":      func() error { return c.Status().Update(t.Context(), pod.DeepCopy()) },
		"status Patch":       func() error { return c.Status().Patch(t.Context(), pod.DeepCopy(), patch) },
		"status Apply":       func() error { return c.Status().Apply(t.Context(), applied()) },
		"Update with a body": func() error {
			return c.SubResource("resize").Update(t.Context(), pod.DeepCopy(), client.WithSubResourceBody(pod.DeepCopy()))
		},
		"Patch with a body": func() error {
			return c.SubResource("resize").Patch(t.Context(), pod.DeepCopy(), patch, client.WithSubResourceBody(pod.DeepCopy()))
		},
	} {
		require.NoError(t, write(), name)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		require.ErrorIs(t, c.Get(ctx, key, pod), context.DeadlineExceeded, name)
		cancel()
		put(t, server, "a", "web:"+strings.ReplaceAll(name, " ", "-"))
		require.NoError(t, c.Get(t.Context(), key, pod), name)
	}
}

// TestReadAfterRemovalOfFinalizer answers a patch like a real server that deletes the object, because the patch removes the
// last finalizer. The response has the version from before the deletion.
func TestReadAfterRemovalOfFinalizer(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	put(t, server, "a", "web:1")
	pod := &corev1.Pod{}
	require.NoError(t, c.Get(t.Context(), key, pod))
	metadata := fmt.Sprintf(`{"name":"a","namespace":"shop","uid":%q,"resourceVersion":%q`, pod.UID, pod.ResourceVersion)
	for more, waits := range map[string]bool{
		`,"deletionTimestamp":"2026-01-01T00:00:00Z"}`:                                   true,
		`,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0}`:    true,
		`,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30}`:   false, // waits for the kubelet
		`,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/keep"]}`: false,
		`}`: false,
	} {
		server.Fail(func(r lwtest.Request) bool { return r.Method == "PATCH" }, 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Pod","metadata":%s%s}`, metadata, more)
		})
		require.NoError(t, c.Patch(t.Context(), pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte("{}"))))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		err := c.Get(ctx, key, &corev1.Pod{})
		cancel()
		require.Equal(t, waits, errors.Is(err, context.DeadlineExceeded), "%s: %v", more, err)
	}
	require.NoError(t, server.Delete("pods", "shop", "a"))
	eventually(t, func() bool { return apierrors.IsNotFound(c.Get(t.Context(), key, pod)) })
}

// The finalizers of a terminating Namespace are in spec.finalizers. Its metadata alone looks as if the last finalizer were
// gone, but an update must not count as a deletion.
func TestUpdateOfTerminatingNamespaceIsNoDeletion(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	_, err := server.Put("namespaces", `{"metadata":{"name":"shop"}}`)
	require.NoError(t, err)
	namespace, shop := &corev1.Namespace{}, client.ObjectKey{Name: "shop"}
	require.NoError(t, c.Get(t.Context(), shop, namespace))
	server.Fail(func(r lwtest.Request) bool { return r.Method == "PUT" }, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","uid":%q,"resourceVersion":%q,"deletionTimestamp":"2026-01-01T00:00:00Z"},`+
			`"spec":{"finalizers":["kubernetes"]}}`, namespace.UID, namespace.ResourceVersion)
	})
	followers := c.(*consistentClient).followers(namespace)
	require.Len(t, followers, 1)
	for name, update := range map[string]func() error{
		"Update":   func() error { return c.Update(t.Context(), namespace.DeepCopy()) },
		"finalize": func() error { return c.SubResource("finalize").Update(t.Context(), namespace.DeepCopy()) },
	} {
		require.NoError(t, update(), name)
		w, _ := followers[0].pending(shop)
		require.NotNil(t, w, name)
		require.True(t, w.unknown(), name) // a read asks the server at once
		require.NoError(t, c.Get(t.Context(), shop, &corev1.Namespace{}), name)
	}
}

// TestReadYourWritesAllocates compares the allocations to start a cache of 10,000 Pods and to read one Pod with those of
// controller-runtime's client without consistency.
func TestReadYourWritesAllocates(t *testing.T) {
	server := startServer(t)
	for n := range 10_000 {
		put(t, server, fmt.Sprint("pod-", n), "web:1")
	}
	allocated := func(newClient client.NewClientFunc) float64 {
		var before, after runtimestats.MemStats
		runtimestats.ReadMemStats(&before)
		reads := startCache(t, server, cache.Options{})
		c, err := newClient(&rest.Config{Host: server.URL}, client.Options{Cache: &client.CacheOptions{Reader: reads}})
		require.NoError(t, err)
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "pod-1"}, &corev1.Pod{}))
		runtimestats.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	allocated(client.New) // fills the server's caches
	off := allocated(client.New)
	on := allocated(ReadYourWrites{}.NewClient)
	t.Logf("%.1f MB with ReadYourWrites, %.1f MB without", on/1e6, off/1e6)
	require.LessOrEqual(t, on, 1.1*off)
}

// TestDeletionsAreForgotten deletes objects that the store has not seen, so that it cannot recognize the deletions.
func TestDeletionsAreForgotten(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	eventually(t, func() bool { return len(server.Open(lwtest.Watches)) == 1 })
	server.StallWatches(true)
	for n := range 2 * manyWrites {
		object := configMap(fmt.Sprint("a-", n))
		_, err := server.Put("configmaps", object)
		require.NoError(t, err)
		require.NoError(t, c.Delete(t.Context(), object))
	}
	one := server.Requests(func(r lwtest.Request) bool { return lwtest.Lists(r) && r.URL.Query().Get("limit") == "1" })
	require.Len(t, one, 2)
	server.StallWatches(false)
	followers := c.(*consistentClient).followers(&corev1.ConfigMap{})
	require.Len(t, followers, 1)
	_, err := server.Put("configmaps", configMap("b")) // a newer resourceVersion
	require.NoError(t, err)
	eventually(t, func() bool {
		require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
		return len(followers[0].written(client.ObjectKey{})) == 0
	})
}

// TestDeletionEventBeforeResponse delays the response to a deletion until its event has arrived. The client must recognize
// the event and forget the deletion at once.
func TestDeletionEventBeforeResponse(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, configMap("a"))))
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	require.NoError(t, c.Get(t.Context(), key, &corev1.ConfigMap{}))
	followers := c.(*consistentClient).followers(&corev1.ConfigMap{})
	require.Len(t, followers, 1)
	server.Fail(func(r lwtest.Request) bool { return r.Method == "DELETE" }, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		eventually(t, func() bool { _, stored := followers[0].progress.UID(key.Namespace, key.Name); return !stored })
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(recorded.Body.Bytes())
	})
	require.NoError(t, c.Delete(t.Context(), configMap("a")))
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, &corev1.ConfigMap{})))
	require.Empty(t, followers[0].written(key))
}

// TestClientsOfOneCache delays the response to one client's write until another client of the same cache has completed a
// later write. Reads must still wait for the later write.
func TestClientsOfOneCache(t *testing.T) {
	server := startServer(t)
	first := startClient(t, server, cache.Options{}, client.CacheOptions{}).(*consistentClient)
	second, err := ReadYourWrites{}.NewClient(&rest.Config{Host: server.URL, ContentConfig: jsonOnly}, client.Options{Cache: &client.CacheOptions{Reader: first.reads}})
	require.NoError(t, err)
	require.NoError(t, first.List(t.Context(), &corev1.ConfigMapList{}))
	require.NoError(t, second.Create(t.Context(), configMap("other")))
	require.NoError(t, second.Create(t.Context(), configMap("a")))
	require.NoError(t, first.Get(t.Context(), key, &corev1.ConfigMap{}))
	server.StallWatches(true)
	defer server.StallWatches(false)
	patch := func(c client.Client, value string) error {
		return c.Patch(t.Context(), configMap("a"), client.RawPatch(types.MergePatchType, []byte(`{"data":{"key":"`+value+`"}}`)))
	}
	performed, completed := holdResponse(server, func(r lwtest.Request) bool { return r.Method == "PATCH" })
	earlier := make(chan error)
	go func() { earlier <- patch(second, "earlier") }()
	<-performed
	require.NoError(t, patch(first, "later"))
	close(completed)
	require.NoError(t, <-earlier)
	w, _ := first.followers(&corev1.ConfigMap{})[0].pending(key)
	_, objects := server.State("configmaps")
	require.Equal(t, objects["shop/a"].GetResourceVersion(), w.version)
}

// A change may make an object leave a collection that has selectors. Another change may bring the object back before it
// is deleted. The first of these events must not count as the event of the deletion.
func TestLeavingTheSelectorIsNoDeletion(t *testing.T) {
	for name, test := range map[string]struct {
		opts cache.Options
		seen bool
	}{
		"everything": {cache.Options{}, true},
		"selector": {cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"tier": "web"})},
		}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			c := startClient(t, server, test.opts, client.CacheOptions{})
			object := configMap("a")
			object.Labels = map[string]string{"tier": "web"}
			require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, &corev1.ConfigMap{})))
			require.NoError(t, c.Create(t.Context(), object))
			require.NoError(t, c.Get(t.Context(), key, object))
			server.StallWatches(true)
			defer server.StallWatches(false)
			require.NoError(t, c.Delete(t.Context(), object))
			followers := c.(*consistentClient).followers(object)
			require.Len(t, followers, 1)
			w, _ := followers[0].pending(key)
			require.NotNil(t, w)
			require.Equal(t, test.seen, w.seen)
		})
	}
}

// Writes must not pile up for an informer that does not run.
func TestWritesOfIdleInformersAreNotRecorded(t *testing.T) {
	server := startServer(t)
	config := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: jsonOnly}
	reads, err := NewCache(config, cache.Options{})
	require.NoError(t, err)
	made, err := ReadYourWrites{}.NewClient(config, client.Options{Cache: &client.CacheOptions{Reader: reads}})
	require.NoError(t, err)
	_, err = reads.GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	followers := made.(*consistentClient).followers(&corev1.ConfigMap{})
	require.Len(t, followers, 1)
	require.NoError(t, made.Create(t.Context(), configMap("a")))
	require.Empty(t, followers[0].written(client.ObjectKey{}), "the informer has not started")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- reads.Start(ctx) }()
	require.True(t, reads.WaitForCacheSync(ctx))
	require.NoError(t, made.Create(t.Context(), configMap("b")))
	require.NotEmpty(t, followers[0].written(client.ObjectKey{}))
	require.NoError(t, made.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "b"}, &corev1.ConfigMap{}))
	server.StallWatches(true)
	defer server.StallWatches(false)
	require.NoError(t, made.Create(t.Context(), configMap("c")))
	stop()
	require.NoError(t, <-ended)
	require.True(t, apierrors.IsNotFound(made.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "c"}, &corev1.ConfigMap{})), "a read from a stopped cache must not wait")
	before := len(followers[0].written(client.ObjectKey{}))
	require.NoError(t, made.Create(t.Context(), configMap("d")))
	require.Len(t, followers[0].written(client.ObjectKey{}), before, "the informer has stopped")
}

// TestFirstListShowsEarlierWrites writes before the informer sends its first list. The server has no streaming lists, and
// answers lists that accept any resourceVersion from an old cache.
func TestFirstListShowsEarlierWrites(t *testing.T) {
	for name, early := range map[string]bool{"informer created by the read": false, "informer created before the write": true} {
		t.Run(name, func(t *testing.T) {
			server, err := lwtest.Start(&lwtest.Options{NoStreamingLists: true})
			require.NoError(t, err)
			t.Cleanup(server.Close)
			_, err = server.Put("configmaps", configMap("b"))
			require.NoError(t, err)
			server.StallWatches(true)
			response, err := http.Get(server.URL + "/api/v1/configmaps")
			require.NoError(t, err)
			old, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			anyVersion := func(r lwtest.Request) bool { return r.URL.Query().Get("resourceVersion") == "0" }
			server.Fail(anyVersion, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(old)
			})
			config := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: jsonOnly}
			var c client.Client
			run(t, func() (cache.Cache, error) {
				reads, err := NewCache(config, cache.Options{})
				require.NoError(t, err)
				c, err = ReadYourWrites{}.NewClient(config, client.Options{Cache: &client.CacheOptions{Reader: reads}})
				require.NoError(t, err)
				if early {
					_, err = reads.GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
					require.NoError(t, err)
				}
				require.NoError(t, c.Create(t.Context(), configMap("a")))
				require.NoError(t, c.Delete(t.Context(), configMap("b")))
				return reads, nil
			})
			require.NoError(t, c.Get(t.Context(), key, &corev1.ConfigMap{}))
			require.True(t, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "b"}, &corev1.ConfigMap{})))
		})
	}
}

// TestReadDuringFirstList writes an object after the server has read the objects for the first list. The first list does not
// contain the object, but this must not end the read.
func TestReadDuringFirstList(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{NoStreamingLists: true})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	server.StallWatches(true)
	listed, proceed := holdResponse(server, lwtest.Lists)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{}).(*consistentClient)
	_, err = c.reads.GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	<-listed
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	gets := 0
	require.NoError(t, c.read(t.Context(), &corev1.ConfigMap{}, key, func() error {
		if gets++; gets == 1 {
			close(proceed)
			defer server.StallWatches(false)
		}
		return c.Client.Get(t.Context(), key, &corev1.ConfigMap{})
	}, nil))
	require.Equal(t, 2, gets)
}

// Before the first write, the server may answer a first list from its cache, which costs it less.
func TestFirstListBeforeWritesAcceptsAnyVersion(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{NoStreamingLists: true})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	require.Len(t, server.Requests(func(r lwtest.Request) bool { return r.URL.Query().Get("resourceVersion") == "0" }), 1)
}

// If resourceVersions have no order, the client cannot tell whether the store contains a write. Reads must then not wait.
func TestUnorderedVersionsDoNotDelayReads(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, &corev1.ConfigMap{})))
	server.Fail(func(r lwtest.Request) bool { return r.Method == "PUT" }, 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","resourceVersion":"v-7"}}`))
	})
	object := configMap("a")
	object.ResourceVersion = "v-6"
	require.NoError(t, c.Update(t.Context(), object))
	followers := c.(*consistentClient).followers(object)
	require.Len(t, followers, 1)
	require.Empty(t, followers[0].written(key))
}

// The response of a subresource such as scale does not contain the object's labels. Therefore the client must not
// conclude that the object no longer matches the selector.
func TestSubresourceWithoutLabels(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"tier": "web"})},
	}}, client.CacheOptions{})
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, &corev1.ConfigMap{})))
	server.StallWatches(true)
	defer server.StallWatches(false)
	object := configMap("a")
	object.Labels = map[string]string{"tier": "web"}
	require.NoError(t, c.Create(t.Context(), object))
	server.Fail(func(r lwtest.Request) bool { return r.Method == "PUT" }, 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","resourceVersion":%q}}`, object.ResourceVersion)
	})
	require.NoError(t, c.SubResource("scale").Update(t.Context(), object.DeepCopy()))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Get(ctx, key, object), context.DeadlineExceeded)
}

// A request for a token does not change the ServiceAccount, so a read of the ServiceAccount must not wait for this
// request. lwtest has no ServiceAccounts, so the test uses a ConfigMap instead.
func TestTokensDoNotDelayReads(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	account := configMap("a")
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, configMap("a"))))
	require.NoError(t, c.Create(t.Context(), account))
	require.NoError(t, c.Get(t.Context(), key, account)) // forgets the write
	server.Fail(func(r lwtest.Request) bool { return r.Method == "POST" }, 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","metadata":{"name":"a","namespace":"shop"}}`))
	})
	require.NoError(t, c.SubResource("token").Create(t.Context(), account, &authenticationv1.TokenRequest{}))
	followers := c.(*consistentClient).followers(account)
	require.Len(t, followers, 1)
	require.Empty(t, followers[0].written(key))
}

func TestFailedWritesDoNotDelayReads(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	object := configMap("a")
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, configMap("a"))))
	require.NoError(t, c.Create(t.Context(), object))
	require.NoError(t, c.Get(t.Context(), key, &corev1.ConfigMap{})) // forgets the write
	require.True(t, apierrors.IsAlreadyExists(c.Create(t.Context(), configMap("a"))))
	object.ResourceVersion = "1"
	require.True(t, apierrors.IsConflict(c.Update(t.Context(), object)))
	followers := c.(*consistentClient).followers(object)
	require.Len(t, followers, 1)
	require.Empty(t, followers[0].written(client.ObjectKey{}))
}

// TestRecreationNeedsNoRequest deletes an object and creates it again after the response. The writes do not overlap, so
// the client knows their order and need not ask the server.
func TestRecreationNeedsNoRequest(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{})
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	for range 10 {
		object := configMap("a")
		require.NoError(t, c.Create(t.Context(), object))
		require.NoError(t, c.Get(t.Context(), key, object))
		require.NoError(t, c.Delete(t.Context(), object))
		object = configMap("a")
		require.NoError(t, c.Create(t.Context(), object))
		require.NoError(t, c.Get(t.Context(), key, object))
		require.NoError(t, c.Delete(t.Context(), object))
		require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, object)))
	}
	require.Empty(t, server.Requests(func(r lwtest.Request) bool { return lwtest.Lists(r) && r.URL.Query().Get("limit") == "1" }))
}

// TestReadRepeatsIfDeletedObjectAppears simulates an old event that adds a deleted object between the wait and the read.
func TestReadRepeatsIfDeletedObjectAppears(t *testing.T) {
	server := startServer(t)
	c := startClient(t, server, cache.Options{}, client.CacheOptions{}).(*consistentClient)
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	server.StallWatches(true)
	defer server.StallWatches(false)
	_, err := server.Put("configmaps", configMap("a"))
	require.NoError(t, err)
	require.NoError(t, c.Delete(t.Context(), configMap("a")))
	reads := 0
	err = c.read(t.Context(), &corev1.ConfigMap{}, key, func() error {
		reads++
		return nil
	}, func(gone map[client.ObjectKey]bool) bool { return reads == 1 && gone[key] })
	require.NoError(t, err)
	require.Equal(t, 2, reads)
}

// TestReadEndsIfDeletedObjectStays simulates a deleted object that remains in the result of each read.
func TestReadEndsIfDeletedObjectStays(t *testing.T) {
	c := startClient(t, startServer(t), cache.Options{}, client.CacheOptions{}).(*consistentClient)
	require.NoError(t, c.List(t.Context(), &corev1.ConfigMapList{}))
	read := func(ctx context.Context, get func()) error {
		for _, f := range c.followers(&corev1.ConfigMap{}) {
			f.record(key, write{number: 1, absent: true}, 1)
		}
		reads := 0
		return c.read(ctx, &corev1.ConfigMap{}, key, func() error {
			reads++
			get()
			return nil
		}, func(gone map[client.ObjectKey]bool) bool { return reads < 1000 && gone[key] })
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := read(ctx, cancel)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "the cache does not contain the last write to ConfigMap shop/a yet")
	c.timeout = time.Nanosecond
	stale, ok := errors.AsType[*StaleReadError](read(t.Context(), func() {}))
	require.True(t, ok)
	require.NoError(t, stale.Err)
}

// failingMapper is a RESTMapper that fails on request.
type failingMapper struct {
	meta.RESTMapper
	fails bool
}

func (m *failingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if m.fails {
		return nil, errors.New("no mapping")
	}
	return m.RESTMapper.RESTMapping(kind, versions...)
}

// If an informer cannot be removed, it continues to run, so reads must still wait for writes.
func TestReadWaitsAfterFailedRemoval(t *testing.T) {
	server := startServer(t)
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper := &failingMapper{RESTMapper: known}
	c := startClient(t, server, cache.Options{Mapper: mapper, DefaultNamespaces: map[string]cache.Config{"shop": {}}}, client.CacheOptions{}).(*consistentClient)
	require.True(t, apierrors.IsNotFound(c.Get(t.Context(), key, &corev1.ConfigMap{})))
	mapper.fails = true
	require.ErrorContains(t, c.reads.RemoveInformer(t.Context(), &corev1.ConfigMap{}), "no mapping")
	mapper.fails = false
	server.StallWatches(true)
	defer server.StallWatches(false)
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Get(ctx, key, &corev1.ConfigMap{}), context.DeadlineExceeded)
	require.NoError(t, c.reads.RemoveInformer(t.Context(), &corev1.ConfigMap{}))
	require.Empty(t, c.followers(&corev1.ConfigMap{}))
}

// TestAnswerKeepsLaterWrite completes a write while the client asks the server about an earlier one.
func TestAnswerKeepsLaterWrite(t *testing.T) {
	later := &write{number: 2, version: "9"}
	f := &follower{writes: map[client.ObjectKey]*write{key: later}}
	f.answer(key, write{number: 1, version: "7", absent: true, asked: true})
	require.Same(t, later, f.writes[key])
	f.answer(key, write{number: 2, version: "2", asked: true}) // the server was restored from a backup
	require.Equal(t, &write{number: 2, version: "2", asked: true}, f.writes[key])
}
