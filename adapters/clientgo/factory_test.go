package clientgo

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// TestTypedFactory checks that requests have the factory's namespace, selector, credentials and User-Agent.
func TestTypedFactory(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	_, err := server.Put("pods", `{"metadata":{"name":"b","namespace":"elsewhere"}}`)
	require.NoError(t, err)
	_, err = server.Put("nodes", `{"metadata":{"name":"n1"}}`)
	require.NoError(t, err)
	config := &rest.Config{Host: server.URL, UserAgent: "a program", BearerToken: "secret", Timeout: 1e9}
	config.Impersonate.UserName = "jane"
	factory, err := NewSharedInformerFactory(config, 0, &FactoryOptions{
		Namespace:        "shop",
		TweakListOptions: func(options *metav1.ListOptions) { options.LabelSelector = "app!=x" },
	})
	require.NoError(t, err)
	informer := factory.Core().V1().Pods()
	require.False(t, informer.Informer().HasSynced())
	require.IsType(t, (*informerType)(nil), factory.InformerFor(&corev1.Pod{}, nil), "InformerFor must return an informer from this package, not from client-go")
	nodes, err := factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"})
	require.NoError(t, err)
	require.False(t, nodes.Informer().HasSynced())
	require.IsType(t, (*informerType)(nil), factory.InformerFor(&corev1.Node{}, nil))
	stop := make(chan struct{})
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		require.True(t, synced, kind)
	}
	listed, err := informer.Lister().List(labels.Everything())
	require.NoError(t, err)
	require.Len(t, listed, 1)
	node, err := nodes.Lister().Get("n1")
	require.NoError(t, err)
	require.Equal(t, "n1", node.(*corev1.Node).Name)
	for _, request := range server.Requests(nil) {
		require.Equal(t, "a program", request.Header.Get("User-Agent"))
		require.Equal(t, "Bearer secret", request.Header.Get("Authorization"))
		require.Equal(t, "jane", request.Header.Get("Impersonate-User"))
	}
	close(stop)
	factory.Shutdown()
	require.True(t, informer.Informer().IsStopped())
}

func TestAppliesOptionsOfClientGo(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	factory, err := NewSharedInformerFactory(&rest.Config{Host: server.URL}, 0, nil, informers.WithTransform(func(obj any) (any, error) {
		obj.(*corev1.Pod).Spec.NodeName = "transformed"
		return obj, nil
	}))
	require.NoError(t, err)
	lister := factory.Core().V1().Pods().Lister()
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	pod, err := lister.Pods("shop").Get("a")
	require.NoError(t, err)
	require.Equal(t, "transformed", pod.Spec.NodeName)
	close(stop)
	factory.Shutdown()
}

// noRequests is a rate limiter that delays each request by an hour.
type noRequests struct{ flowcontrol.RateLimiter }

func (noRequests) Wait(ctx context.Context) error {
	select {
	case <-time.After(time.Hour):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// TestRateLimitsDoNotDelayInformers starts informers with rate limits that allow less than one request per hour.
func TestRateLimitsDoNotDelayInformers(t *testing.T) {
	server := startServer(t)
	for name, config := range map[string]*rest.Config{
		"QPS":         {Host: server.URL, QPS: 1e-9, Burst: 1},
		"RateLimiter": {Host: server.URL, RateLimiter: noRequests{}},
	} {
		t.Run(name, func(t *testing.T) {
			typed, err := NewSharedInformerFactory(config, 0, nil)
			require.NoError(t, err)
			dynamic, err := NewDynamicSharedInformerFactory(config, 0, nil)
			require.NoError(t, err)
			metadata, err := NewMetadataSharedInformerFactory(config, 0, nil)
			require.NoError(t, err)
			nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
			for _, informer := range []cache.SharedIndexInformer{
				typed.Core().V1().Pods().Informer(), dynamic.ForResource(pods).Informer(), metadata.ForResource(pods).Informer(),
				typed.Core().V1().Nodes().Informer(), dynamic.ForResource(nodes).Informer(), metadata.ForResource(nodes).Informer(),
			} {
				start(t, informer)
				waitSynced(t, informer.HasSyncedChecker())
			}
		})
	}
}

func TestMissingCertificateAuthorityIsAnError(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAFile: "missing"}}
	_, err := NewSharedInformerFactory(config, 0, nil)
	require.ErrorContains(t, err, "an HTTP client for the rest.Config")
	_, err = NewDynamicSharedInformerFactory(config, 0, nil)
	require.Error(t, err)
	_, err = NewMetadataSharedInformerFactory(config, 0, nil)
	require.Error(t, err)
}

type informerType = informer

func TestDynamicAndMetadataFactories(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	config := &rest.Config{Host: server.URL}
	dynamic, err := NewDynamicSharedInformerFactory(config, 0, nil)
	require.NoError(t, err)
	metadata, err := NewMetadataSharedInformerFactory(config, 0, nil)
	require.NoError(t, err)
	whole, short := dynamic.ForResource(pods), metadata.ForResource(pods)
	require.Same(t, whole, dynamic.ForResource(pods))
	stop := make(chan struct{})
	dynamic.Start(stop)
	metadata.Start(stop)
	require.True(t, dynamic.WaitForCacheSync(stop)[pods])
	require.True(t, metadata.WaitForCacheSync(stop)[pods])
	object, err := whole.Lister().ByNamespace("shop").Get("a")
	require.NoError(t, err)
	pod := object.(*unstructured.Unstructured)
	require.Equal(t, "v1 Pod a", pod.GetAPIVersion()+" "+pod.GetKind()+" "+pod.GetName())
	require.Equal(t, map[string]any{"nodeName": "n1"}, pod.Object["spec"])
	object, err = short.Lister().ByNamespace("shop").Get("a")
	require.NoError(t, err)
	require.Equal(t, "a", object.(*metav1.PartialObjectMetadata).Name)
	close(stop)
	dynamic.Shutdown()
	metadata.Shutdown()
}

// TestTypedFactoryCoversStableGroups checks that all informers of the typed factory are from this package, except in groups
// without a stable version.
func TestTypedFactoryCoversStableGroups(t *testing.T) {
	factory, err := NewSharedInformerFactory(&rest.Config{Host: "http://127.0.0.1"}, 0, nil)
	require.NoError(t, err)
	stock, informersOf := map[string]bool{}, reflect.TypeFor[informers.SharedInformerFactory]()
	for n := range informersOf.NumMethod() {
		method := informersOf.Method(n)
		if method.Type.NumIn() > 0 || method.Type.NumOut() == 0 || !strings.HasPrefix(method.Type.Out(0).PkgPath(), "k8s.io/client-go/informers/") {
			continue // for example, Start
		}
		group := reflect.ValueOf(factory).MethodByName(method.Name).Call(nil)[0]
		for n := range group.NumMethod() {
			version := group.Method(n).Call(nil)[0]
			for n := range version.NumMethod() {
				created := version.Method(n).Call(nil)[0].MethodByName("Informer").Call(nil)[0].Interface().(cache.SharedIndexInformer)
				if _, ok := StateOf(created); !ok {
					stock[method.Name] = true
				}
			}
		}
	}
	require.Equal(t, map[string]bool{"Extensions": true, "Internal": true, "Lifecycle": true}, stock)
}

func TestFindsBuiltInTypes(t *testing.T) {
	found := 0
	for known := range builtin.All() {
		example, err := scheme.Scheme.New(schema.GroupVersionKind{Group: known.Group, Version: known.Version, Kind: known.Kind})
		if known.Group == "apiextensions.k8s.io" || known.Group == "apiregistration.k8s.io" {
			continue // the Go types of these API groups are in other modules, so client-go's scheme lacks them
		}
		require.NoError(t, err)
		got, err := codec.ResourceOf(example, "")
		require.NoError(t, err)
		require.Equal(t, schema.GroupVersionResource{Group: known.Group, Version: known.Version, Resource: known.Plural}, identity(got))
		found++
	}
	require.Greater(t, found, 50)
}
