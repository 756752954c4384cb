package controllerruntime

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var key = client.ObjectKey{Namespace: "shop", Name: "a"}

func widget() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "lw.example.com", Version: "v1", Kind: "Widget"})
	return u
}

// TestSameErrorsAsControllerRuntime checks that invalid input causes the same errors as with client-go's informers.
func TestSameErrorsAsControllerRuntime(t *testing.T) {
	server := startServer(t)
	unknown := &unstructured.Unstructured{}
	unknown.SetGroupVersionKind(schema.GroupVersionKind{Group: "no.example.com", Version: "v1", Kind: "Thing"})
	empty := runtime.NewScheme()
	withoutList := runtime.NewScheme()
	withoutList.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Pod{})
	for name, test := range map[string]struct {
		scheme *runtime.Scheme
		object client.Object
	}{
		"unknown kind":                      {nil, unknown},
		"metadata of an unknown kind":       {nil, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "no.example.com/v1", Kind: "Thing"}}},
		"scheme without the type":           {empty, &corev1.Pod{}},
		"scheme without the list type":      {withoutList, &corev1.Pod{}},
		"unstructured object without a GVK": {nil, &unstructured.Unstructured{}},
	} {
		t.Run(name, func(t *testing.T) {
			ours := startCache(t, server, cache.Options{Scheme: test.scheme})
			theirs := startStockCache(t, server, cache.Options{Scheme: test.scheme})
			want := theirs.Get(t.Context(), key, test.object.DeepCopyObject().(client.Object))
			require.Error(t, want)
			require.EqualError(t, ours.Get(t.Context(), key, test.object), want.Error())
		})
	}
}

// TestFollowsRecreatedResource removes a resource type and adds it again with a different object. After that, the
// cache must contain only the new object.
func TestFollowsRecreatedResource(t *testing.T) {
	server := startServer(t)
	undefine := define(t, server, "widgets.lw.example.com", "Widget")
	_, err := server.Put("widgets.lw.example.com", `{"metadata":{"name":"a","namespace":"shop"},"spec":{"size":1}}`)
	require.NoError(t, err)
	failures := make(chan error, 100)
	c := startCache(t, server, cache.Options{DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) { failures <- err }})
	require.NoError(t, c.Get(t.Context(), key, widget()))
	undefine()
	require.Error(t, <-failures)
	define(t, server, "widgets.lw.example.com", "Widget")
	_, err = server.Put("widgets.lw.example.com", `{"metadata":{"name":"b","namespace":"shop"},"spec":{"size":2}}`)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		found := widget()
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "b"}, found)
		gone := c.Get(t.Context(), key, widget())
		return err == nil && client.IgnoreNotFound(gone) == nil && gone != nil
	}, time.Minute, 10*time.Millisecond)
}

func TestUsesNewInformerOfOptions(t *testing.T) {
	calls := 0
	c := startCache(t, startServer(t), cache.Options{NewInformer: func(lister toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		calls++
		return toolscache.NewSharedIndexInformer(lister, example, resync, indexers)
	}})
	_, err := c.GetInformer(t.Context(), &corev1.Pod{})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
}

func TestCreatesHTTPClient(t *testing.T) {
	server := startServer(t)
	put(t, server, "a", "web:1")
	config := &rest.Config{Host: server.URL}
	c := run(t, func() (cache.Cache, error) { return NewCache(config, cache.Options{}) })
	require.NoError(t, c.Get(t.Context(), key, &corev1.Pod{}))
	require.NotEmpty(t, server.Requests(nil)[0].Header.Get("User-Agent"))
	_, err := NewCache(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAFile: "missing"}}, cache.Options{})
	require.ErrorContains(t, err, "could not create HTTP client from config")
}

func TestContentType(t *testing.T) {
	for contentType, want := range map[string]bool{"": true, "application/json": false} {
		server := startServer(t)
		config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: contentType}}
		c := run(t, func() (cache.Cache, error) { return NewCache(config, cache.Options{}) })
		require.NoError(t, client.IgnoreNotFound(c.Get(t.Context(), key, &corev1.Pod{})))
		protobuf := 0
		for _, request := range server.Requests(nil) {
			if strings.HasPrefix(request.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
				protobuf++
			}
		}
		require.Equal(t, want, protobuf > 0, contentType)
	}
}
