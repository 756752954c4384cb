package clientgo

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// counted is an object type whose UnmarshalJSON method increments the variable decodes.
type counted struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

var decodes atomic.Int64

func (c *counted) UnmarshalJSON(text []byte) error {
	decodes.Add(1)
	var plain struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	err := json.Unmarshal(text, &plain)
	c.ObjectMeta = plain.Metadata
	return err
}

func (c *counted) DeepCopyObject() apiruntime.Object { copied := *c; return &copied }

func countedInformer(t *testing.T) cache.SharedIndexInformer {
	server := startServer(t)
	decodes.Store(0)
	informer := NewSharedIndexInformer(listerOf(t, server, "pods"), &counted{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for n := range 10 {
		putPod(t, server, fmt.Sprint("pod-", n), "n1")
	}
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	return informer
}

func TestNothingIsDecodedUntilItIsRead(t *testing.T) {
	informer := countedInformer(t)
	require.Len(t, informer.GetStore().ListKeys(), 10)
	require.Equal(t, []string{"shop"}, informer.GetIndexer().ListIndexFuncValues(cache.NamespaceIndex))
	require.Zero(t, decodes.Load())
}

func TestReadersShareStructs(t *testing.T) {
	informer := countedInformer(t)
	first, _, err := informer.GetStore().GetByKey("shop/pod-0")
	require.NoError(t, err)
	second, _, err := informer.GetStore().GetByKey("shop/pod-0")
	require.NoError(t, err)
	require.Same(t, first, second)
	require.EqualValues(t, 1, decodes.Load())
	runtime.KeepAlive(first)
}

func TestReadStructsSurviveGarbageCollection(t *testing.T) {
	informer := countedInformer(t)
	read := func() int64 {
		_, _, err := informer.GetStore().GetByKey("shop/pod-0")
		require.NoError(t, err)
		return decodes.Load()
	}
	for range 5 {
		require.EqualValues(t, 1, read())
		runtime.GC()
	}
	eventually(t, func() bool {
		informer.(*informerType).decoder.recent.next()
		informer.(*informerType).decoder.recent.next()
		runtime.GC()
		return read() > 1
	})
}

// TestStoppedInformerIsFreed checks that a stopped informer is garbage-collected, even if callers have read objects.
func TestStoppedInformerIsFreed(t *testing.T) {
	for name, extras := range map[string]Extras{
		"no options": {},
		"several options": {
			Compress: true, QueueCapacity: 10, StateDir: t.TempDir(), Trace: func(string) *lw.Trace { return &lw.Trace{} },
		},
	} {
		t.Run(name, func(t *testing.T) { requireInformerIsFreed(t, extras) })
	}
}

func requireInformerIsFreed(t *testing.T, extras Extras) {
	freed := make(chan struct{})
	func() {
		server := startServer(t)
		putPod(t, server, "a", "n1")
		informer := NewSharedIndexInformerWithOptions(listerOf(t, server, "pods"), &counted{}, InformerOptions{Extras: extras})
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(t, err)
		runtime.AddCleanup(informer.(*informerType), func(struct{}) { close(freed) }, struct{}{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.RunWithContext(ctx)
		}()
		waitSynced(t, informer.HasSyncedChecker())
		require.Len(t, informer.GetStore().List(), 1)
		stop()
		<-ended
	}()
	waitFreed(t, freed)
}

// TestRemovedHandlerIsFreed removes a handler that has received an event. The garbage collector must free the
// handler even if no event follows.
func TestRemovedHandlerIsFreed(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	freed := make(chan struct{})
	func() {
		handler := &recorder{}
		runtime.AddCleanup(handler, func(struct{}) { close(freed) }, struct{}{})
		registered, err := informer.AddEventHandler(handler)
		require.NoError(t, err)
		putPod(t, server, "a", "n1")
		handler.wait(t, "add a@n1 false")
		require.NoError(t, shutDownEventHandler(informer, registered))
	}()
	waitFreed(t, freed)
}

// waitFreed runs the garbage collector until freed is closed.
func waitFreed(t *testing.T, freed <-chan struct{}) {
	eventually(t, func() bool {
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	})
}
