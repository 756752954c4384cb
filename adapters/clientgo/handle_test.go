package clientgo

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// controller-runtime sets the kind on each copy that it receives, even if the copy shares nested values with other
// readers. Each copy therefore needs its own outermost struct or map, because concurrent readers would otherwise
// write to the same memory.
func TestSharedCopiesOwnTheirKind(t *testing.T) {
	server := startServer(t)
	_, err := server.Put("pods", `{"metadata":{"name":"a","namespace":"shop","labels":{"app":"web"}}}`)
	require.NoError(t, err)
	for _, example := range []runtime.Object{&corev1.Pod{}, &unstructured.Unstructured{}} {
		t.Run(fmt.Sprintf("%T", example), func(t *testing.T) {
			informer := NewSharedIndexInformerWithOptions(listerOf(t, server, "pods"), example, InformerOptions{CopyingReaders: true})
			start(t, informer)
			waitSynced(t, informer.HasSyncedChecker())
			copied := func() runtime.Object {
				item, exists, err := informer.GetIndexer().GetByKey("shop/" + SharedName("a"))
				require.NoError(t, err)
				require.True(t, exists)
				return item.(runtime.Object).DeepCopyObject()
			}
			kept, _, err := informer.GetStore().GetByKey("shop/a")
			require.NoError(t, err)
			before := kept.(runtime.Object).GetObjectKind().GroupVersionKind()
			first, second := copied(), copied()
			var writing sync.WaitGroup
			for _, object := range []runtime.Object{first, second} {
				writing.Go(func() { // fails with the race detector if the copies share the kind
					object.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Changed"))
				})
			}
			writing.Wait()
			require.Equal(t, before, kept.(runtime.Object).GetObjectKind().GroupVersionKind())
			require.Equal(t, before, copied().GetObjectKind().GroupVersionKind())
			require.Equal(t, "web", labelsIn(t, first)["app"])
		})
	}
}

func labelsIn(t *testing.T, object runtime.Object) map[string]string {
	accessor, err := meta.Accessor(object)
	require.NoError(t, err)
	return accessor.GetLabels()
}

// The number of label indexes is limited. Beyond the limit, objects must still be found, because the reader compares
// the labels of all objects.
func TestLabelIndexesAreLimited(t *testing.T) {
	server := startServer(t)
	var labels []string
	for n := range 2 * maxLabelIndexes {
		labels = append(labels, fmt.Sprintf(`"label%d":"yes"`, n))
	}
	for _, object := range []string{`{"metadata":{"name":"a","namespace":"shop","labels":{` + strings.Join(labels, ",") + `}}}`, `{"metadata":{"name":"b","namespace":"shop"}}`} {
		_, err := server.Put("pods", object)
		require.NoError(t, err)
	}
	for name, test := range map[string]struct{ maxEntries, indexes int }{
		"number":  {maxLabelEntries, maxLabelIndexes},
		"entries": {7, 3}, // each index contains two Pods and so counts as two entries
		"none":    {1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			informer := NewSharedIndexInformerWithOptions(listerOf(t, server, "pods"), &corev1.Pod{}, InformerOptions{CopyingReaders: true})
			indexer := informer.(*informerType).indexer
			indexer.maxLabelEntries = test.maxEntries
			start(t, informer)
			waitSynced(t, informer.HasSyncedChecker())
			for n := range labels {
				found, err := informer.GetIndexer().ByIndex("field:"+LabelField(fmt.Sprint("label", n)), "shop/yes")
				require.NoError(t, err)
				matching := 0
				for _, object := range found {
					if labelsIn(t, object.(runtime.Object))[fmt.Sprint("label", n)] == "yes" {
						matching++
					}
				}
				require.Equal(t, 1, matching)
				require.Equal(t, n < test.indexes, len(found) == 1, "label %d", n)
			}
			require.Len(t, indexer.labels, test.indexes)
		})
	}
}

// A decode failure is logged as an error that names the object but does not reveal its content.
func TestDecodeFailureIsLoggedAsError(t *testing.T) {
	server := startServer(t)
	_, err := server.Put("pods", `{"metadata":{"name":"a","namespace":"shop"},"spec":{"nodeName":{"secret":"hidden"}}}`)
	require.NoError(t, err)
	informer := podInformer(t, server, nil)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	lines := make(chan string, 1000)
	logger := funcr.New(func(_, line string) { lines <- line }, funcr.Options{})
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer running.Wait()
	defer stop()
	for deadline := time.After(time.Minute); ; {
		select {
		case line := <-lines:
			require.NotContains(t, line, "hidden")
			if strings.Contains(line, "shop/a") {
				require.Contains(t, line, "spec.nodeName")
				require.Contains(t, line, `"error"=`)
				require.NotContains(t, line, `"level"=`, "funcr prints a level only for information")
				return
			}
		case <-deadline:
			t.Fatal("the failure was not logged")
		}
	}
}
