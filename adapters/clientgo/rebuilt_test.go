package clientgo

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
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
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// identities is an event handler that stores the UID of each existing ConfigMap. An update must not change an
// object's UID.
type identities struct {
	t    *testing.T
	mu   sync.Mutex
	uids map[string]string // by name
}

func (i *identities) OnAdd(obj any, _ bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	config := obj.(*corev1.ConfigMap)
	if _, ok := i.uids[config.Name]; ok {
		i.t.Errorf("%s was added twice", config.Name)
	}
	i.uids[config.Name] = string(config.UID)
}

func (i *identities) OnUpdate(old, obj any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	config := obj.(*corev1.ConfigMap)
	if uid := string(config.UID); i.uids[config.Name] != uid || string(old.(*corev1.ConfigMap).UID) != uid {
		i.t.Errorf("an update changed the UID of %s to %s", config.Name, uid)
	}
}

func (i *identities) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	config := obj.(*corev1.ConfigMap)
	if i.uids[config.Name] != string(config.UID) {
		i.t.Errorf("%s with the UID %s was deleted, but its UID was %s", config.Name, config.UID, i.uids[config.Name])
	}
	delete(i.uids, config.Name)
}

func (i *identities) equal(uids map[string]string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Equal(i.uids, uids)
}

// listCounter is an [http.RoundTripper] that counts the lists that the server has answered. It also counts the requests
// with which the client checks whether the server was rebuilt.
type listCounter struct {
	next http.RoundTripper

	mu            sync.Mutex
	lists, checks int
}

func (c *listCounter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch query := request.URL.Query(); {
	case query.Get("limit") == "1":
		c.checks++
	case isList(query):
		c.lists++
	}
	return response, nil
}

// isList reports whether a request is an ordinary list or a streaming list.
func isList(query url.Values) bool {
	return query.Get("sendInitialEvents") != "" || query.Get("watch") == "" && query.Get("continue") == ""
}

func (c *listCounter) counts() (lists, checks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists, c.checks
}

// A server is rebuilt at the same address while the informer cannot reach it. The handler must receive the
// deletions and additions within ten seconds after the informer reconnects. If a server has only restarted, the
// informer must not relist.
func TestRebuiltServers(t *testing.T) {
	t.Parallel()
	for _, rebuild := range hostile.Rebuilds() {
		for mode, correct := range map[string]hostile.Scenario{"streaming lists": hostile.All()[0], "lists": {Lists: true}} {
			t.Run(rebuild.Name+" with "+mode, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { followRebuilt(t, correct.Start(), &rebuild) })
			})
		}
	}
}

func followRebuilt(t *testing.T, server *hostile.Server, rebuild *hostile.Rebuild) {
	server.Behave(false)
	counter := &listCounter{next: server}
	clientset := simulatedClient(t, counter, protobufConfig("http://simulated"))
	lister := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", "shop", fields.Everything())
	interrupted := make(chan error, 100)
	informer := NewSharedIndexInformerWithOptions(lister, &corev1.ConfigMap{}, InformerOptions{Extras: Extras{
		Random: rand.New(rand.NewPCG(1, 11)).Float64, Trace: traceInterruptions(func(err error) { interrupted <- err }),
	}})
	handler := &identities{t: t, uids: map[string]string{}}
	_, err := informer.AddEventHandler(handler)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	require.True(t, handler.equal(server.UIDs()))
	listsBefore, checksBefore := counter.counts()
	server.Cut()
	<-interrupted
	time.Sleep(3 * time.Second)
	synctest.Wait()
	server.Resume(rebuild)
	checks := checksBefore
	for began := time.Now(); checks == checksBefore; _, checks = counter.counts() { // waits for the backoff
		require.Less(t, time.Since(began), 30*time.Second)
		time.Sleep(100 * time.Millisecond)
	}
	for reconnected := time.Now(); !handler.equal(server.UIDs()); time.Sleep(100 * time.Millisecond) {
		require.Less(t, time.Since(reconnected), 10*time.Second)
	}
	require.Len(t, informer.GetStore().List(), len(server.UIDs()))
	time.Sleep(time.Hour)
	lists, checks := counter.counts()
	require.Equal(t, checksBefore+1, checks, "a reconnect may need only one check")
	if rebuild.Same {
		require.Equal(t, listsBefore, lists, "a restarted server must not be listed again")
	} else {
		require.Equal(t, listsBefore+1, lists)
	}
	cancel()
	<-ended
}

// TestServerIsRebuiltOnItsPort closes a server and starts another one on the same port. The informer must then follow
// the new one.
func TestServerIsRebuiltOnItsPort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int    // number of unrelated changes before the Pods are created
		pods          string // names of the Pods on the rebuilt server
	}{
		"lower resourceVersions":    {before: 100, pods: "a c"},
		"higher resourceVersions":   {after: 100, pods: "a c"},
		"the same resourceVersions": {pods: "a b"},
		"empty":                     {before: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t)
			fill(t, server, c.before, "a b")
			informer := podInformer(t, server, nil)
			require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
			var handler recorder
			_, err := informer.AddEventHandler(&handler)
			require.NoError(t, err)
			start(t, informer)
			want := []string{"add a@n1 true", "add b@n1 true"}
			eventually(t, func() bool { return len(handler.all()) == len(want) })
			eventually(t, func() bool { return len(server.Open(lwtest.Watches)) > 0 })
			server.Close()
			rebuilt := startServer(t)
			fill(t, rebuilt, c.after, c.pods)
			serveAt(t, rebuilt, server)
			want = append(want, "delete tombstone shop/a a@n1", "delete tombstone shop/b b@n1")
			for _, pod := range strings.Fields(c.pods) {
				want = append(want, "add "+pod+"@n1 false")
			}
			eventually(t, func() bool { return len(handler.all()) >= len(want) })
			require.ElementsMatch(t, want, handler.all())
			require.Len(t, informer.GetStore().ListKeys(), len(strings.Fields(c.pods)))
			eventually(t, func() bool { return informer.LastSyncResourceVersion() == versionOf(rebuilt) })
		})
	}
}

func TestRestartedServerIsNotListedAgain(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	fill(t, server, 0, "a b")
	informer := podInformer(t, server, nil)
	require.NoError(t, informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	var handler recorder
	_, err := informer.AddEventHandler(&handler)
	require.NoError(t, err)
	start(t, informer)
	eventually(t, func() bool { return len(handler.all()) == 2 })
	eventually(t, func() bool { return len(server.Open(lwtest.Watches)) > 0 })
	before := len(server.Requests(nil))
	server.Close()
	require.NoError(t, server.Restart())
	eventually(t, func() bool { return len(server.Open(lwtest.Watches)) > 0 })
	putPod(t, server, "c", "n1")
	eventually(t, func() bool { return len(handler.all()) == 3 })
	checks := 0
	for _, request := range server.Requests(nil)[before:] {
		query := request.URL.Query()
		if query.Get("limit") == "1" {
			checks++
		} else {
			require.False(t, isList(query), "%s", request.URL)
		}
	}
	require.Equal(t, 1, checks)
}

// fill makes unrelated changes, which raise the resourceVersion, and then creates Pods.
func fill(t *testing.T, server *lwtest.Server, changes int, pods string) {
	for range changes {
		_, err := server.Put("nodes", `{"metadata":{"name":"n"}}`)
		require.NoError(t, err)
		require.NoError(t, server.Delete("nodes", "", "n"))
	}
	for _, name := range strings.Fields(pods) {
		putPod(t, server, name, "n1")
	}
}

// serveAt makes a server's API also available at the address of a closed server.
func serveAt(t *testing.T, server, closed *lwtest.Server) {
	var listener net.Listener
	eventually(t, func() (ok bool) { // a client's ephemeral port can block the address briefly
		var err error
		listener, err = net.Listen("tcp", strings.TrimPrefix(closed.URL, "http://"))
		return err == nil
	})
	front := httptest.NewUnstartedServer(server)
	require.NoError(t, front.Listener.Close())
	front.Listener = listener
	front.Start()
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
}
