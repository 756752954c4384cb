package clientgo

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

func startServer(t *testing.T) *lwtest.Server {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

// define creates or replaces a CustomResourceDefinition. undefine deletes it, with its objects.
func define(t *testing.T, server *lwtest.Server, name, kind string) (undefine func()) {
	const definitions = "customresourcedefinitions.apiextensions.k8s.io"
	_, err := server.Put(definitions, sample.Definition(name, "v1", kind, ""))
	require.NoError(t, err)
	return func() { require.NoError(t, server.Delete(definitions, "", name)) }
}

func wrappedClient(t *testing.T, config *rest.Config) kubernetes.Interface {
	httpClient, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	clientset, err := kubernetes.NewForConfigAndClient(config, WrapHTTPClient(httpClient))
	require.NoError(t, err)
	return clientset
}

func protobufConfig(host string) *rest.Config {
	return &rest.Config{Host: host, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}}
}

// listerOf returns client-go's ListerWatcher for a core resource in all namespaces.
func listerOf(t *testing.T, server *lwtest.Server, resource string) cache.ListerWatcher {
	clientset := wrappedClient(t, protobufConfig(server.URL))
	return cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), resource, "", fields.Everything())
}

func podInformer(t *testing.T, server *lwtest.Server, indexers cache.Indexers) cache.SharedIndexInformer {
	return NewSharedIndexInformer(listerOf(t, server, "pods"), &corev1.Pod{}, 0, indexers)
}

// start runs an informer until the test ends or stop is called. stop blocks until RunWithContext has returned.
func start(t *testing.T, informer cache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

func waitSynced(t *testing.T, checkers ...cache.DoneChecker) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.True(t, cache.WaitFor(ctx, "", checkers...))
}

func eventually(t *testing.T, condition func() bool) {
	require.Eventually(t, condition, time.Minute, 5*time.Millisecond)
}

func putPod(t *testing.T, server *lwtest.Server, name, node string) {
	_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"},"spec":{"nodeName":%q}}`, name, node))
	require.NoError(t, err)
}

func versionOf(server *lwtest.Server) string {
	version, _ := server.State("pods")
	return version
}

// traceInterruptions returns an [Extras.Trace] that passes the cause of every interruption to add. The watch error
// handler would receive only some of them.
func traceInterruptions(add func(error)) func(string) *lw.Trace {
	return func(string) *lw.Trace {
		return &lw.Trace{Event: func(event lw.Event[lw.Keyed]) {
			if event.Type == lw.Interrupted {
				add(event.Interruption.Err)
			}
		}}
	}
}

// recorder is an event handler that records each event as a string.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *recorder) OnAdd(obj any, initial bool) { r.add("add %s %t", describe(obj), initial) }
func (r *recorder) OnUpdate(old, obj any)       { r.add("update %s %s", describe(old), describe(obj)) }
func (r *recorder) OnDelete(obj any)            { r.add("delete %s", describe(obj)) }

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.events...)
}

// wait blocks until r has recorded len(want) events, and fails the test if they differ from want.
func (r *recorder) wait(t *testing.T, want ...string) {
	eventually(t, func() bool { return len(r.all()) >= len(want) })
	require.Equal(t, want, r.all())
}

func describe(obj any) string {
	switch o := obj.(type) {
	case *corev1.Pod:
		return o.Name + "@" + o.Spec.NodeName
	case *podAndName:
		return o.name + "@" + o.Spec.NodeName
	case cache.DeletedFinalStateUnknown:
		return "tombstone " + o.Key + " " + describe(o.Obj)
	case runtime.Object:
		return fmt.Sprintf("%T", o)
	}
	return fmt.Sprintf("%v", obj)
}

// recordOutage starts an informer, waits until it has synced and closes the server. It returns the recorder that
// receives the informer's events.
func recordOutage(t *testing.T, server *lwtest.Server) *recorder {
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	handler := &recorder{}
	registered, err := informer.AddEventHandler(handler)
	require.NoError(t, err)
	start(t, informer)
	waitSynced(t, registered.HasSyncedChecker())
	server.Close()
	return handler
}

// listStored requests a list and returns its last object. stored is the object that the store contains during the
// list, or nil.
func listStored(t *testing.T, source *client, stored *object) (listed *object) {
	held := func(_, _, _, _ []byte) (lw.Keyed, bool) { return stored, stored != nil }
	for event := range lw.Resume(t.Context(), source, lw.Held{Lookup: held}, &lw.Options{NoStreamingList: true}) {
		if event.Type == lw.Added {
			listed = event.Object
		} else if event.Type == lw.Synced {
			break
		}
		require.Nil(t, event.Interruption)
	}
	return listed
}
