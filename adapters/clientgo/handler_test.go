package clientgo

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

func TestHandlersReceiveEvents(t *testing.T) {
	server := startServer(t)
	putPod(t, server, "a", "n1")
	informer := podInformer(t, server, nil)
	var early, late recorder
	registered, err := informer.AddEventHandler(&early)
	require.NoError(t, err)
	require.False(t, registered.HasSynced())
	require.False(t, informer.HasSynced())
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker(), registered.HasSyncedChecker())
	early.wait(t, "add a@n1 true")

	lateRegistered, err := informer.AddEventHandler(&late)
	require.NoError(t, err)
	waitSynced(t, lateRegistered.HasSyncedChecker())
	late.wait(t, "add a@n1 true")

	putPod(t, server, "a", "n2")
	putPod(t, server, "b", "n1")
	require.NoError(t, server.Delete("pods", "shop", "a"))
	rest := []string{"update a@n1 a@n2", "add b@n1 false", "delete a@n2"}
	early.wait(t, append([]string{"add a@n1 true"}, rest...)...)
	late.wait(t, append([]string{"add a@n1 true"}, rest...)...)
	version, _ := server.State("pods")
	require.Equal(t, version, informer.LastSyncResourceVersion())
	require.Equal(t, informer.LastSyncResourceVersion(), informer.GetStore().LastStoreSyncResourceVersion())
}

func TestReportsMissedDeletion(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	putPod(t, server, "a", "n1")
	putPod(t, server, "b", "n1")
	handler := recordOutage(t, server)
	require.NoError(t, server.Delete("pods", "shop", "a"))
	server.Compact()
	require.NoError(t, server.Restart())
	eventually(t, func() bool { return len(handler.all()) == 3 })
	require.Equal(t, "delete tombstone shop/a a@n1", handler.all()[2])
}

// If an object is recreated during an outage, the handler must receive a deletion and an addition. client-go
// reports an update instead.
func TestRecreatedObject(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	putPod(t, server, "a", "n1")
	handler := recordOutage(t, server)
	require.NoError(t, server.Delete("pods", "shop", "a"))
	putPod(t, server, "a", "n2")
	server.Compact()
	require.NoError(t, server.Restart())
	handler.wait(t, "add a@n1 true", "delete tombstone shop/a a@n1", "add a@n2 false")
}

func TestQueuesEventsForSlowHandler(t *testing.T) {
	for coalesce, want := range map[bool][]string{
		false: {"add first@n1 true", "add a@n0 false", "update a@n0 a@n1", "update a@n1 a@n2", "add b@n1 false", "delete b@n1", "add last@n1 false"},
		true:  {"add first@n1 true", "add a@n2 false", "add last@n1 false"},
	} {
		server := startServer(t)
		putPod(t, server, "first", "n1")
		informer := NewSharedIndexInformerWithOptions(listerOf(t, server, "pods"), &corev1.Pod{}, InformerOptions{Extras: Extras{CoalesceEvents: coalesce}})
		var handler recorder
		goOn := make(chan struct{})
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, initial bool) {
				handler.OnAdd(obj, initial)
				<-goOn
			},
			UpdateFunc: handler.OnUpdate,
			DeleteFunc: handler.OnDelete,
		})
		require.NoError(t, err)
		start(t, informer)
		eventually(t, func() bool { return len(handler.all()) == 1 })
		for n := range 3 {
			putPod(t, server, "a", fmt.Sprint("n", n))
		}
		putPod(t, server, "b", "n1")
		require.NoError(t, server.Delete("pods", "shop", "b"))
		putPod(t, server, "last", "n1")
		version, _ := server.State("pods")
		eventually(t, func() bool { return informer.LastSyncResourceVersion() == version })
		close(goOn)
		handler.wait(t, want...)
	}
}

func TestRemovedHandlerReceivesNothing(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	var kept, removed recorder
	_, err := informer.AddEventHandler(&kept)
	require.NoError(t, err)
	registered, err := informer.AddEventHandler(&removed)
	require.NoError(t, err)
	again, err := informer.AddEventHandler(&removed)
	require.NoError(t, err)
	require.NotSame(t, registered, again, "each call must return a new registration")
	start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	require.NoError(t, informer.RemoveEventHandler(registered))
	require.NoError(t, informer.RemoveEventHandler(registered), "a second removal must not fail")
	putPod(t, server, "a", "n1")
	kept.wait(t, "add a@n1 false")
	removed.wait(t, "add a@n1 false")
	require.NoError(t, shutDownEventHandler(informer, again))
	putPod(t, server, "b", "n1")
	kept.wait(t, "add a@n1 false", "add b@n1 false")
	removed.wait(t, "add a@n1 false")
}

func TestRegistrationFromAnotherInformerIsIgnored(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	one, other := podInformer(t, server, nil), podInformer(t, server, nil)
	var handler recorder
	registered, err := one.AddEventHandler(&handler)
	require.NoError(t, err)
	require.NoError(t, other.RemoveEventHandler(registered), "a registration from another informer must be ignored, as in client-go")
	require.ErrorContains(t, one.RemoveEventHandler(nil), "invalid key type")
	start(t, one)
	putPod(t, server, "a", "n1")
	eventually(t, func() bool { return len(handler.all()) == 1 })
}

func TestShutDownBeforeStart(t *testing.T) {
	informer := podInformer(t, startServer(t), nil)
	registered, err := informer.AddEventHandler(&recorder{})
	require.NoError(t, err)
	require.NoError(t, shutDownEventHandler(informer, registered))
}

// The test disables client-go's crash handler, because that would end the process.
func TestPanickingHandler(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
	server := startServer(t)
	informer := podInformer(t, server, nil)
	var handler recorder
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.Pod).Name == "bad" {
			panic("a bug in the handler")
		}
		handler.OnAdd(obj, false)
	}})
	require.NoError(t, err)
	stop := start(t, informer)
	waitSynced(t, informer.HasSyncedChecker())
	putPod(t, server, "bad", "n1")
	putPod(t, server, "good", "n1")
	handler.wait(t, "add good@n1 false")
	stop()
}

func TestHandlersAreAddedAndRemovedConcurrently(t *testing.T) {
	server := startServer(t)
	informer := podInformer(t, server, nil)
	start(t, informer)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			registered, err := informer.AddEventHandler(&recorder{})
			if err == nil {
				err = informer.RemoveEventHandler(registered)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	for n := range 20 {
		putPod(t, server, fmt.Sprint("pod-", n), "n1")
	}
	group.Wait()
	var last recorder
	_, err := informer.AddEventHandler(&last)
	require.NoError(t, err)
	eventually(t, func() bool { return len(last.all()) == 20 })
}

// A registration must have the same name as in client-go. If the informer has no resyncs, its handlers must not
// have any either.
func TestHandlersLikeClientGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clientset := simulatedClient(t, onePod{http.Header{}}, protobufConfig("http://simulated"))
		lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "pods", "", fields.Everything())
		var updates [2]atomic.Int32 // number of resyncs, which must be zero
		var names [2][]string
		for n, informer := range []cache.SharedIndexInformer{
			cache.NewSharedIndexInformer(lister, &corev1.Pod{}, 0, nil), NewSharedIndexInformer(lister, &corev1.Pod{}, 0, nil),
		} {
			count := cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates[n].Add(1) }}
			for _, handler := range []cache.ResourceEventHandler{count, &count, &recorder{}} {
				registered, err := informer.AddEventHandlerWithResyncPeriod(handler, time.Minute)
				require.NoError(t, err)
				names[n] = append(names[n], registered.HasSyncedChecker().Name())
			}
			stop := start(t, informer)
			time.Sleep(3 * time.Minute)
			stop()
		}
		require.Equal(t, names[0], names[1])
		require.Zero(t, updates[0].Load())
		require.Zero(t, updates[1].Load())
	})
}
