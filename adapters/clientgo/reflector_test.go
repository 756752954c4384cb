package clientgo

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// callerStore is a [cache.ReflectorStore] that records its calls. It also implements [cache.ReflectorBookmarkStore] and
// [cache.ResourceVersionUpdater].
type callerStore struct {
	recorder
	mu      sync.Mutex
	reject  int // number of lists to reject
	version string
}

func (s *callerStore) Add(obj any) error     { s.add("add %s", describe(obj)); return nil }
func (s *callerStore) Update(obj any) error  { s.add("update %s", describe(obj)); return nil }
func (s *callerStore) Delete(obj any) error  { s.add("delete %s", describe(obj)); return nil }
func (s *callerStore) Resync() error         { s.add("resync"); return nil }
func (s *callerStore) Bookmark(string) error { return nil }
func (s *callerStore) UpdateResourceVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *callerStore) reached() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *callerStore) Replace(list []any, version string) error {
	var names []string
	for _, obj := range list {
		names = append(names, describe(obj))
	}
	slices.Sort(names)
	s.add("replace [%s] at %s", strings.Join(names, " "), version)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reject > 0 {
		s.reject--
		return fmt.Errorf("the store is full")
	}
	return nil
}

// This package's reflector must call the store in the same way as client-go's.
func TestReflector(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*lwtest.Options{"streaming lists": nil, "lists": {NoStreamingLists: true}} {
		for library, create := range map[string]func(cache.ListerWatcher, cache.ReflectorStore) interface{ RunWithContext(context.Context) }{
			"client-go": func(l cache.ListerWatcher, s cache.ReflectorStore) interface{ RunWithContext(context.Context) } {
				return cache.NewReflector(l, &corev1.Pod{}, s, 0)
			},
			"listwatch": func(l cache.ListerWatcher, s cache.ReflectorStore) interface{ RunWithContext(context.Context) } {
				return NewReflector(l, &corev1.Pod{}, s, ReflectorOptions{})
			},
		} {
			t.Run(library+" with "+name, func(t *testing.T) {
				t.Parallel()
				server, err := lwtest.Start(opts)
				require.NoError(t, err)
				t.Cleanup(server.Close)
				putPod(t, server, "a", "n1")
				putPod(t, server, "b", "n1")
				store := &callerStore{}
				runReflector(t, create(listerOf(t, server, "pods"), store))
				store.wait(t, "replace [a@n1 b@n1] at 3")
				eventually(t, func() bool { return len(server.Open(lwtest.Watches)) > 0 })
				putPod(t, server, "c", "n1")
				putPod(t, server, "c", "n2")
				require.NoError(t, server.Delete("pods", "shop", "b"))
				want := []string{"replace [a@n1 b@n1] at 3", "add c@n1", "update c@n2", "delete b@n1"}
				store.wait(t, want...)
				eventually(t, func() bool { return store.reached() == "6" })
				// While the watch is down, delete the Pod a and let the history expire.
				server.Fail(isWatch, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					_ = server.Delete("pods", "shop", "a")
					server.Compact()
					next.ServeHTTP(w, r)
				})
				server.CloseWatches()
				want = append(want, "replace [c@n2] at 7")
				store.wait(t, want...)
				// The watch after the relist must deliver the next change.
				putPod(t, server, "c", "n3")
				store.wait(t, append(want, "update c@n3")...)
			})
		}
	}
}

func runReflector(t *testing.T, reflector interface{ RunWithContext(context.Context) }) {
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reflector.RunWithContext(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

func TestReflectorListsAgainIfTheStoreRejectsIt(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	putPod(t, server, "a", "n1")
	store := &callerStore{reject: 1}
	reflector := NewReflector(listerOf(t, server, "pods"), &corev1.Pod{}, store, ReflectorOptions{})
	runReflector(t, reflector)
	store.wait(t, "replace [a@n1] at 2", "replace [a@n1] at 2")
	eventually(t, func() bool { return reflector.LastSyncResourceVersion() == "2" })
}

// If the store rejects a relist, the next list must not be older than the store, like client-go's. A server that lags
// behind could otherwise return an older state.
func TestReflectorNeverListsOlderState(t *testing.T) {
	t.Parallel()
	for library, create := range map[string]func(cache.ListerWatcher, cache.ReflectorStore) interface{ RunWithContext(context.Context) }{
		"client-go": func(l cache.ListerWatcher, s cache.ReflectorStore) interface{ RunWithContext(context.Context) } {
			return cache.NewReflector(l, &corev1.Pod{}, s, 0)
		},
		"listwatch": func(l cache.ListerWatcher, s cache.ReflectorStore) interface{ RunWithContext(context.Context) } {
			return NewReflector(l, &corev1.Pod{}, s, ReflectorOptions{})
		},
	} {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			server, err := lwtest.Start(&lwtest.Options{NoStreamingLists: true})
			require.NoError(t, err)
			t.Cleanup(server.Close)
			putPod(t, server, "a", "n1")
			store := &callerStore{}
			runReflector(t, create(listerOf(t, server, "pods"), store))
			store.wait(t, "replace [a@n1] at 2")
			eventually(t, func() bool { return len(server.Open(lwtest.Watches)) > 0 })
			putPod(t, server, "a", "n2") // because client-go relists after a watch without events
			store.wait(t, "replace [a@n1] at 2", "update a@n2")
			store.mu.Lock()
			store.reject = 1
			store.mu.Unlock()
			var mu sync.Mutex
			var versions []string
			server.Fail(lwtest.Lists, -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				mu.Lock()
				defer mu.Unlock()
				versions = append(versions, r.URL.Query().Get("resourceVersion"))
				next.ServeHTTP(w, r)
			})
			server.Fail(isWatch, 1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				putPod(t, server, "a", "n3")
				server.Compact()
				next.ServeHTTP(w, r)
			})
			server.CloseWatches()
			store.wait(t, "replace [a@n1] at 2", "update a@n2", "replace [a@n3] at 4", "replace [a@n3] at 4")
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, []string{"3", "3"}, versions)
		})
	}
}

func TestReflectorReportsErrorsAndResyncs(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.Fail(nil, 1, refuse(403, "Forbidden"))
	errs := make(chan error, 10)
	store := &callerStore{}
	runReflector(t, NewReflector(listerOf(t, server, "pods"), &corev1.Pod{}, store, ReflectorOptions{
		ResyncPeriod:      1,
		WatchErrorHandler: func(_ context.Context, _ *cache.Reflector, err error) { errs <- err },
	}))
	require.ErrorIs(t, <-errs, lw.ErrForbidden)
	eventually(t, func() bool { return slices.Contains(store.all(), "resync") })
	require.Equal(t, "replace [] at 1", store.all()[0])
}

// The reflector keeps no objects, so the garbage collector must free every object that the caller's store has
// dropped.
func TestReflectorKeepsNoObjects(t *testing.T) {
	server := startServer(t)
	for n := range 10 {
		putPod(t, server, fmt.Sprint("pod-", n), "n1")
	}
	store := &droppingStore{}
	store.freed.Add(20)
	reflector := NewReflector(listerOf(t, server, "pods"), &corev1.Pod{}, store, ReflectorOptions{})
	runReflector(t, reflector)
	eventually(t, func() bool { return reflector.LastSyncResourceVersion() != "" })
	for n := range 10 {
		putPod(t, server, fmt.Sprint("pod-", n), "n2")
	}
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		store.freed.Wait()
	}()
	waitFreed(t, freed)
	require.Zero(t, reflector.informer.inner.Store().Len())
}

// droppingStore is a [cache.ReflectorStore] that drops all objects and counts how many of them the garbage
// collector has freed.
type droppingStore struct{ freed sync.WaitGroup }

func (s *droppingStore) drop(obj any) error {
	runtime.AddCleanup(obj.(*corev1.Pod), func(struct{}) { s.freed.Done() }, struct{}{})
	return nil
}

func (s *droppingStore) Add(obj any) error    { return s.drop(obj) }
func (s *droppingStore) Update(obj any) error { return s.drop(obj) }
func (s *droppingStore) Delete(any) error     { return nil }
func (s *droppingStore) Resync() error        { return nil }

func (s *droppingStore) Replace(list []any, _ string) error {
	for _, obj := range list {
		_ = s.drop(obj)
	}
	return nil
}
