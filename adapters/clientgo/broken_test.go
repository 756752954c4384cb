package clientgo

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// applied is an event handler that stores the current node of each Pod.
type applied struct {
	t    *testing.T
	mu   sync.Mutex
	pods map[string]string // node name by Pod name
}

func (f *applied) OnAdd(obj any, _ bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pod := obj.(*corev1.Pod)
	if _, ok := f.pods[pod.Name]; ok {
		f.t.Errorf("%s was added twice", pod.Name)
	}
	f.pods[pod.Name] = pod.Spec.NodeName
}

func (f *applied) OnUpdate(old, obj any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, pod := old.(*corev1.Pod), obj.(*corev1.Pod)
	if f.pods[pod.Name] != before.Spec.NodeName {
		f.t.Errorf("%s was on node %s, but the old object of the update is on node %s", pod.Name, f.pods[pod.Name], before.Spec.NodeName)
	}
	f.pods[pod.Name] = pod.Spec.NodeName
}

func (f *applied) OnDelete(obj any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	delete(f.pods, obj.(*corev1.Pod).Name)
}

func (f *applied) equals(pods map[string]string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprint(f.pods) == fmt.Sprint(pods)
}

// TestBrokenServer breaks connections, expires resourceVersions and sends invalid data while Pods change. In the
// end, the handler must have the same Pods as the server.
func TestBrokenServer(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	handler := &applied{t: t, pods: map[string]string{}}
	_, err := informer.AddEventHandler(handler)
	require.NoError(t, err)
	start(t, informer)
	random := rand.New(rand.NewPCG(1, 2))
	faults := []func(){
		server.DropConnections, server.CloseWatches, server.Compact,
		func() { server.Fail(nil, 1, garbage(100)) },
		func() { server.Fail(nil, 1, hangUp) },
		func() { server.Fail(lwtest.Watches, 1, lwtest.Refuse(&lw.StatusError{Code: 410, Reason: "Expired"})) },
		func() {
			server.Fail(nil, 1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				fmt.Fprint(w, "<!DOCTYPE html><h1>Please log in</h1>")
			})
		},
	}
	pods := map[string]string{}
	for step := range 300 {
		name := fmt.Sprint("pod-", random.IntN(20))
		if _, ok := pods[name]; ok && random.IntN(3) == 0 {
			require.NoError(t, server.Delete("pods", "shop", name))
			delete(pods, name)
		} else {
			pods[name] = fmt.Sprint("node-", step)
			putPod(t, server, name, pods[name])
		}
		if step%30 == 29 {
			faults[random.IntN(len(faults))]()
		}
	}
	// The informer recovers more slowly than in other tests, because the backoff can exceed a minute after several
	// faults in a row.
	require.Eventually(t, func() bool { return handler.equals(pods) }, 5*time.Minute, 5*time.Millisecond)
	require.Len(t, informer.GetStore().ListKeys(), len(pods))
}

// hangUp is an lwtest.Fault that closes the connection without a response.
func hangUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
