package clientgo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// TestHostileServers runs an informer against each hostile server in simulated time. After ten minutes the server
// behaves correctly, and the informer must recover.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	for _, s := range hostile.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { (&trial{T: t, server: s}).run(s.Start(), nil) })
		})
	}
}

func TestFlappingProxy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		correct := hostile.All()[0]
		correct.Causes = []error{errReset}
		running := correct.Start()
		(&trial{T: t, server: correct}).run(running, &flapping{next: running, random: rand.New(rand.NewPCG(1, 3))})
	})
}

// trial runs an informer against a hostile server. It is also the informer's event handler and checks the events.
type trial struct {
	*testing.T
	server hostile.Scenario

	mu       sync.Mutex
	values   map[string]string // current value by object name
	versions map[string]int    // last version that the handler received, by object name
	requests []time.Time
	causes   []error
}

// recorded is an [http.RoundTripper] that records the time of each request, except for requests that continue a
// list.
type recorded struct {
	trial *trial
	next  http.RoundTripper
}

func (r *recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	if !request.URL.Query().Has("continue") {
		r.trial.lock(func() { r.trial.requests = append(r.trial.requests, time.Now()) })
	}
	return r.next.RoundTrip(request)
}

// run starts an informer, lets the server behave correctly after ten minutes and waits for the informer to recover.
// It then stops the informer and checks the result. proxy may be nil.
func (r *trial) run(server *hostile.Server, proxy *flapping) {
	next := http.RoundTripper(server)
	if proxy != nil {
		next = proxy
	}
	informer, stop := r.follow(next)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-time.After(server.Pause()):
				server.Step()
			case <-over:
				return
			}
		}
	}()
	time.Sleep(10 * time.Minute)
	server.Behave(r.server.Lies && !r.server.Restart)
	proxy.behave()
	r.converges(server, informer)
	close(over)
	stopped := time.Now()
	stop()
	synctest.Wait()
	require.Zero(r, time.Since(stopped))
	require.Zero(r, server.Open(), "no request may stay open")
	r.check()
}

// follow starts an informer with r as its handler. It returns the informer and a function that stops it.
func (r *trial) follow(server http.RoundTripper) (informer cache.SharedIndexInformer, stop func()) {
	r.values, r.versions = map[string]string{}, map[string]int{}
	clientset := simulatedClient(r.T, &recorded{r, server}, protobufConfig("http://simulated"))
	lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", "shop", fields.Everything())
	informer = NewSharedIndexInformerWithOptions(lister, &corev1.ConfigMap{}, InformerOptions{Extras: Extras{
		Random: rand.New(rand.NewPCG(1, 11)).Float64,
		Trace:  traceInterruptions(func(err error) { r.lock(func() { r.causes = append(r.causes, err) }) }),
	}})
	_, err := informer.AddEventHandler(r)
	require.NoError(r, err)
	ctx, cancel := context.WithCancel(klog.NewContext(r.Context(), logr.Discard()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	return informer, func() {
		cancel()
		<-ended
	}
}

// converges waits for the guaranteed recovery time, and fails the test if the store or r's values then differ from the
// server's objects.
func (r *trial) converges(server *hostile.Server, informer cache.SharedIndexInformer) {
	bound := 15 * time.Minute
	if r.server.Restart {
		bound = 27 * time.Minute
	}
	time.Sleep(bound)
	for range 60 { // the last change may not have arrived yet
		synctest.Wait()
		if r.equals(server, informer) {
			return
		}
		time.Sleep(time.Second)
	}
	require.Fail(r, "the store or the reported events do not match the server's objects", r.server.Does)
}

func (r *trial) equals(server *hostile.Server, informer cache.SharedIndexInformer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	stored := map[string]string{}
	for _, obj := range informer.GetStore().List() {
		stored[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap).Data["v"]
	}
	return maps.Equal(stored, server.Values()) && maps.Equal(r.values, server.Values())
}

// check verifies the request rate, and the errors that were reported during the whole run.
func (r *trial) check() {
	for i := range r.requests {
		for k := i; k < len(r.requests); k++ {
			w := r.requests[k].Sub(r.requests[i])
			if float64(k-i+1) > 13+w.Seconds() { // lw's request limit, plus one request that was rejected with 406
				require.Failf(r, "request storm", "%d requests in %v", k-i+1, w)
			}
		}
	}
	for _, cause := range r.causes {
		require.NotErrorIs(r, cause, context.Canceled)
	}
	for _, cause := range r.server.Causes {
		require.ErrorIs(r, errors.Join(r.causes...), cause)
	}
}

func (r *trial) lock(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *trial) OnAdd(obj any, _ bool) { r.event("", obj) }

func (r *trial) OnUpdate(old, obj any) { r.event(old.(*corev1.ConfigMap).Data["v"], obj) }

func (r *trial) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	name := obj.(*corev1.ConfigMap).Name
	r.lock(func() {
		if _, ok := r.values[name]; !ok {
			r.Errorf("%s was deleted twice", name)
		}
		delete(r.values, name)
	})
}

// event checks that previous is the latest known value of the object. The object's values must not decrease, except if
// the server may send old objects.
func (r *trial) event(previous string, obj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, value := obj.(*corev1.ConfigMap).Name, obj.(*corev1.ConfigMap).Data["v"]
	if r.values[name] != previous {
		r.Errorf("%s had the value %q, but the old object of the event has %q", name, r.values[name], previous)
	}
	r.values[name] = value
	var version int
	_, _ = fmt.Sscan(value, &version)
	if version < r.versions[name] && !r.server.Lies && r.server.Name != "lagging-lists" {
		r.Errorf("%s changed from version %d back to version %d", name, r.versions[name], version)
	}
	r.versions[name] = version
}
