package controllerruntime

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// heap returns the heap size in bytes after a garbage collection.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // frees the objects whose finalizers ran after the first collection
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// The informers must not keep a decoded struct once a reader has its copy.
func TestReadObjectsDoNotStayInMemory(t *testing.T) {
	const objects, size = 200, 100 << 10
	server := startServer(t)
	for n := range objects {
		_, err := server.Put("configmaps", fmt.Sprintf(`{"metadata":{"name":"c%d","namespace":"shop"},"data":{"text":%q}}`, n, strings.Repeat("x", size)))
		require.NoError(t, err)
	}
	c := startCache(t, server, cache.Options{})
	list := func() (text []string) {
		var maps corev1.ConfigMapList
		require.NoError(t, c.List(t.Context(), &maps))
		for _, item := range maps.Items {
			text = append(text, item.Name)
		}
		return text
	}
	_, err := c.GetInformer(t.Context(), &corev1.ConfigMap{})
	require.NoError(t, err)
	before := heap()
	require.Len(t, list(), objects)
	require.Less(t, heap()-before, int64(objects*size/2))
}

// Readers may modify their objects.
func TestReadersOwnTheirObjects(t *testing.T) {
	server := startServer(t)
	put(t, server, "a", "web:1")
	c := startCache(t, server, cache.Options{})
	for range 2 {
		var pod corev1.Pod
		require.NoError(t, c.Get(t.Context(), key, &pod))
		require.Equal(t, "web:1", pod.Spec.Containers[0].Image)
		pod.Spec.Containers[0].Image = "changed"
		var pods corev1.PodList
		require.NoError(t, c.List(t.Context(), &pods))
		require.Equal(t, "web:1", pods.Items[0].Spec.Containers[0].Image)
		pods.Items[0].Spec.Containers[0].Image = "changed"
	}
}

// Readers that disable the deep copy get objects with the same nested values, as in controller-runtime. They must not
// share the field with the kind, because controller-runtime writes to it in each object.
func TestReadersShareObjectsWithoutDeepCopy(t *testing.T) {
	server := labeled(t)
	c := startCache(t, server, cache.Options{})
	for name, list := range map[string][]client.ListOption{
		"all": nil, "by label": {client.MatchingLabels{"tier": "front"}}, "in a namespace": {client.InNamespace("shop"), client.HasLabels{"tier"}},
	} {
		t.Run(name, func(t *testing.T) {
			var first, second corev1.Pod
			require.NoError(t, c.Get(t.Context(), key, &first, client.UnsafeDisableDeepCopy))
			first.Labels["mark"] = name
			require.NoError(t, c.Get(t.Context(), key, &second, client.UnsafeDisableDeepCopy))
			require.Equal(t, name, second.Labels["mark"])
			require.Equal(t, "Pod", second.Kind)
			opts := append([]client.ListOption{client.UnsafeDisableDeepCopy}, list...)
			var pods corev1.PodList
			require.NoError(t, c.List(t.Context(), &pods, opts...))
			marks := 0
			for _, pod := range pods.Items {
				require.Equal(t, pod.Name == "a", pod.Labels["mark"] == name)
				if pod.Name == "a" {
					marks++
				}
			}
			require.Equal(t, 1, marks)
			runtime.KeepAlive(first)
		})
	}
	var widgets [2]*unstructured.Unstructured
	for n := range widgets {
		widgets[n] = widget()
		require.NoError(t, c.Get(t.Context(), key, widgets[n], client.UnsafeDisableDeepCopy))
		widgets[n].SetLabels(map[string]string{"mark": fmt.Sprint(n)})
	}
	require.Equal(t, "1", widgets[0].GetLabels()["mark"])
	require.EqualError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "none"}, &corev1.Pod{}, client.UnsafeDisableDeepCopy), `Pod "none" not found`)
}

func TestCacheNeedsNoLeaderElection(t *testing.T) {
	c, err := NewCache(&rest.Config{Host: startServer(t).URL}, cache.Options{})
	require.NoError(t, err)
	require.False(t, c.(manager.LeaderElectionRunnable).NeedLeaderElection())
}

// If the cache's options disable deep copies, readers share structs, as in controller-runtime.
func TestReadersShareObjectsIfConfigured(t *testing.T) {
	disabled := true
	server := startServer(t)
	put(t, server, "a", "web:1")
	for name, opts := range map[string]cache.Options{
		"by default":   {DefaultUnsafeDisableDeepCopy: &disabled},
		"by object":    {ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: &disabled}}},
		"by namespace": {DefaultNamespaces: map[string]cache.Config{"shop": {UnsafeDisableDeepCopy: &disabled}}},
		"by object in a namespace": {ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Namespaces: map[string]cache.Config{"shop": {UnsafeDisableDeepCopy: &disabled}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCache(t, server, opts)
			var first, second corev1.Pod
			require.NoError(t, c.Get(t.Context(), key, &first))
			require.NoError(t, c.Get(t.Context(), key, &second))
			require.Same(t, &first.Spec.Containers[0], &second.Spec.Containers[0])
		})
	}
}

// labeled fills a server with three Pods and three Widgets. Two of each have the label app=web.
func labeled(t *testing.T) *lwtest.Server {
	server := startServer(t)
	for name, labels := range map[string]string{"a": `{"app":"web","tier":"front"}`, "b": `{"tier":"back","app":"web"}`, "c": `{"app":"job"}`} {
		for _, resource := range []string{"pods", "widgets.lw.example.com"} {
			_, err := server.Put(resource, fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop","labels":%s,"annotations":{"app":"no"}},"spec":{"nodeName":"n1"}}`, name, labels))
			require.NoError(t, err)
		}
	}
	return server
}

func TestListByLabels(t *testing.T) {
	server := labeled(t)
	widgets := &unstructured.UnstructuredList{}
	widgets.SetGroupVersionKind(widget().GroupVersionKind())
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	for mode, newCache := range map[string]cache.NewCacheFunc{
		"protobuf":   NewCache,
		"compressed": Options{Compress: true}.NewCache,
		"JSON": func(config *rest.Config, opts cache.Options) (cache.Cache, error) {
			config.ContentType = "application/json"
			return NewCache(config, opts)
		},
	} {
		c := start(t, server, newCache, cache.Options{})
		for kind, list := range map[string]client.ObjectList{"typed": &corev1.PodList{}, "unstructured": widgets, "metadata only": metadata} {
			t.Run(mode+", "+kind, func(t *testing.T) {
				for selector, want := range map[string][]string{"app=web": {"a", "b"}, "app=web,tier!=front": {"b"}, "app": {"a", "b", "c"}, "app=none": nil} {
					parsed, err := labels.Parse(selector)
					require.NoError(t, err)
					require.NoError(t, c.List(t.Context(), list, client.MatchingLabelsSelector{Selector: parsed}, client.InNamespace("shop")))
					require.Equal(t, want, names(t, list), selector)
				}
			})
		}
	}
}

func names(t *testing.T, list client.ObjectList) []string {
	found := map[string]bool{}
	switch list := list.(type) {
	case *corev1.PodList:
		for _, item := range list.Items {
			found[item.Name] = item.Spec.NodeName == "n1"
		}
	case *unstructured.UnstructuredList:
		for _, item := range list.Items {
			found[item.GetName()] = item.Object["spec"] != nil
		}
	case *metav1.PartialObjectMetadataList:
		for _, item := range list.Items {
			found[item.Name] = item.Annotations["app"] == "no"
		}
	}
	for name, complete := range found {
		require.True(t, complete, name)
	}
	return slices.Sorted(maps.Keys(found))
}

// If a field selector has two requirements, controller-runtime finds objects with the index for one requirement. For
// each of these objects, it calls the index function of the other requirement.
func TestListByTwoFields(t *testing.T) {
	server := labeled(t)
	c := startCache(t, server, cache.Options{})
	for field, value := range map[string]func(*corev1.Pod) string{
		"node": func(pod *corev1.Pod) string { return pod.Spec.NodeName },
		"name": func(pod *corev1.Pod) string { return pod.Name },
	} {
		require.NoError(t, c.IndexField(t.Context(), &corev1.Pod{}, field, func(object client.Object) []string {
			return []string{value(object.(*corev1.Pod))}
		}))
	}
	var pods corev1.PodList
	require.NoError(t, c.List(t.Context(), &pods, client.MatchingFields{"node": "n1", "name": "b"}))
	require.Equal(t, []string{"b"}, names(t, &pods))
}

// Lists must leave out an object that cannot be decoded, and Get must return the decode error.
func TestUndecodableObject(t *testing.T) {
	server := startServer(t)
	put(t, server, "a", "web:1")
	_, err := server.Put("pods", `{"metadata":{"name":"b","namespace":"shop"},"spec":{"nodeName":7}}`)
	require.NoError(t, err)
	c := startCache(t, server, cache.Options{})
	for range 2 {
		var pods corev1.PodList
		require.NoError(t, c.List(t.Context(), &pods))
		require.Equal(t, 1, len(pods.Items))
		require.NoError(t, c.List(t.Context(), &pods, client.InNamespace("shop"))) // uses an index
		require.Equal(t, 1, len(pods.Items))
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "b"}, &corev1.Pod{})
		require.ErrorContains(t, err, "spec.nodeName")
	}
}

// A list may stop at the first undecodable object, so it has to find several such objects one by one.
func TestListOmitsSeveralUndecodableObjects(t *testing.T) {
	server := startServer(t)
	for _, namespace := range []string{"x", "y"} {
		_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"name":"b","namespace":%q},"spec":{"nodeName":7}}`, namespace))
		require.NoError(t, err)
	}
	for name, test := range map[string]struct {
		namespaces map[string]cache.Config
		opts       []client.ListOption
	}{
		"in separate informers": {map[string]cache.Config{"x": {}, "y": {}}, nil},
		"with a limit":          {nil, []client.ListOption{client.Limit(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCache(t, server, cache.Options{DefaultNamespaces: test.namespaces})
			var pods corev1.PodList
			require.NoError(t, c.List(t.Context(), &pods, test.opts...))
			require.Empty(t, pods.Items)
		})
	}
}

// TestListReturnsErrorThatQuotesInput lists a namespace with the name of the type that makes a list repeat.
func TestListReturnsErrorThatQuotesInput(t *testing.T) {
	c := startCache(t, startServer(t), cache.Options{DefaultNamespaces: map[string]cache.Config{"shop": {}}})
	err := c.List(t.Context(), &corev1.PodList{}, client.InNamespace("clientgo.undecodable"))
	require.ErrorContains(t, err, "unknown namespace")
}

// A list by label must not look at objects with other labels. It must also work with more labels than there are
// indexes.
func TestLabelIndex(t *testing.T) {
	server := startServer(t)
	for n := range 2000 {
		_, err := server.Put("configmaps", fmt.Sprintf(`{"metadata":{"name":"c%d","namespace":"n%d","labels":{"half":"%d","id":"%d"}}}`, n, n%2, n%2, n))
		require.NoError(t, err)
	}
	c := startCache(t, server, cache.Options{})
	count := func(opts ...client.ListOption) int {
		var maps corev1.ConfigMapList
		require.NoError(t, c.List(t.Context(), &maps, opts...))
		return len(maps.Items)
	}
	require.Equal(t, 1, count(client.MatchingLabels{"id": "7"}))
	require.Equal(t, 1, count(client.MatchingLabels{"id": "7", "half": "1"}, client.InNamespace("n1")))
	require.Equal(t, 0, count(client.MatchingLabels{"id": "7"}, client.InNamespace("n0")))
	require.Equal(t, 1000, count(client.MatchingLabels{"half": "1"}))
	require.Less(t, testing.AllocsPerRun(5, func() { count(client.MatchingLabels{"id": "8"}) }), 500.0)

	_, err := server.Put("configmaps", `{"metadata":{"name":"c8","namespace":"n0","labels":{"id":"new"}}}`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return count(client.MatchingLabels{"id": "new"}) == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, 0, count(client.MatchingLabels{"id": "8"}))
	for n := range 20 {
		require.Equal(t, 0, count(client.MatchingLabels{fmt.Sprint("label", n): "x"}))
	}
}

// The index must contain the labels that a transform has set, even if the transform changes the object's type.
func TestLabelIndexOfTransformedObjects(t *testing.T) {
	server := labeled(t)
	c := startCache(t, server, cache.Options{DefaultTransform: func(object any) (any, error) {
		pod := object.(*corev1.Pod).DeepCopy()
		pod.Labels = map[string]string{"set": pod.Name}
		return &labeledPod{*pod}, nil
	}})
	informer, err := c.GetInformer(t.Context(), &corev1.Pod{})
	require.NoError(t, err)
	indexer := informer.(toolscache.SharedIndexInformer).GetIndexer()
	for name, want := range map[string]int{"a": 1, "web": 0} {
		found, err := indexer.ByIndex("field:"+clientgo.LabelField("set"), "shop/"+name)
		require.NoError(t, err)
		require.Len(t, found, want)
	}
}

// labeledPod is the result of a transform that changes the type of an object.
type labeledPod struct{ corev1.Pod }
