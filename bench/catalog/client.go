package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// measure starts a contender and returns the measurements of this process. It is the role of the client processes.
func measure(t task) harness.Figures {
	before := t.requests()
	cpu := harness.CPUTime()
	start := startListwatch
	if t.isArgo() {
		start = startArgo
	}
	var changes sync.WaitGroup // counts down to the last change
	changes.Add(t.Events)
	below := start(t, changes.Done)
	for i := 0; i < t.Objects; i += t.Objects / 10 { // checks a sample of the objects, and that the contender indexes owners
		if found := below(owner(i)); found != 10 {
			panic(fmt.Sprintf("object %d has %d objects below it, itself included; expected 10", owner(i), found))
		}
	}
	found := harness.Figures{
		"CPU time to sync, s": (harness.CPUTime() - cpu).Seconds(),
		"requests to sync":    float64(t.requests() - before),
	}
	found["peak RSS to sync, MB"] = harness.PeakRSS() / 1e6
	found["heap, MB"] = harness.Heap() / 1e6
	cpu = harness.CPUTime()
	go t.get(changePath + strconv.Itoa(t.Events)) // the server responds only after it has written all changes
	changes.Wait()
	found["CPU time per event, µs"] = float64((harness.CPUTime() - cpu).Microseconds()) / float64(t.Events)
	below(0) // keeps the contender alive until here, so that the heap figure includes its objects
	return found
}

// get returns the body of the server's response.
func (t *task) get(path string) string {
	response := harness.MustGet(http.Get(t.Server + path))
	defer response.Body.Close()
	return string(harness.MustGet(io.ReadAll(response.Body)))
}

func (t *task) requests() int { return harness.MustGet(strconv.Atoi(t.get(requestsPath))) }

// own reports whether an API group belongs to the benchmark. Changes in other groups, such as those of the
// CustomResourceDefinitions, are not counted.
func own(name string) bool { return strings.HasPrefix(name, "group") }

// startListwatch starts a catalog, and returns when it has synced and has reported all initial objects. It calls
// received for each later change. below returns the number of objects in the tree below object i, including object i.
func startListwatch(t task, received func()) (below func(i int) int) {
	transport := harness.MustGet(lwhttp.New(t.Server, nil))
	ctx := context.Background()
	settings := &catalog.Settings{MetadataOnly: t.Contender != listwatchWhole}
	if t.Contender == listwatchPacked {
		pack := compact.NewPacker()
		settings.Pack = func(o *lw.Object) catalog.Packed { return pack(o) }
	}
	c := catalog.New(transport, &catalog.Options{Follow: func(catalog.TypeInfo) *catalog.Settings { return settings }})
	go func() { _ = c.Run(ctx) }()
	harness.Must(c.WaitSynced(ctx))
	ready := make(chan struct{})
	go func() {
		remaining := t.Objects
		for change := range c.Changes(ctx, nil) {
			switch {
			case !own(change.Resource.Group) || change.Type == lw.Synced:
			case change.Initial:
				if remaining--; remaining == 0 {
					close(ready)
				}
			default:
				received()
			}
		}
	}()
	<-ready
	return func(i int) (found int) {
		snapshot := c.Snapshot()
		ref := catalog.Ref{
			Type: catalog.Type{Group: group(i % t.Types), Resource: plural(i % t.Types)},
			Key:  lw.Key{Namespace: namespace(i, t.Types), Name: named(i)},
		}
		for range snapshot.Tree(ref) {
			found++
		}
		return found
	}
}

// startArgo is like startListwatch, but for Argo CD's cache. This cache reports no initial objects to OnEvent, because the
// handler is added after the sync.
func startArgo(t task, received func()) (below func(i int) int) {
	c := cache.NewClusterCache(&rest.Config{Host: t.Server, QPS: -1},
		cache.SetLogr(logr.Discard()),
		cache.SetPopulateResourceInfoHandler(func(*unstructured.Unstructured, bool) (info any, cacheManifest bool) {
			return nil, t.Contender == argoWhole
		}))
	harness.Must(c.EnsureSynced())
	c.OnEvent(func(_ watch.EventType, un *unstructured.Unstructured) {
		if own(un.GroupVersionKind().Group) {
			received()
		}
	})
	return func(i int) (found int) {
		key := kube.NewResourceKey(group(i%t.Types), fmt.Sprintf("Thing%d", i%t.Types), namespace(i, t.Types), named(i))
		c.IterateHierarchyV2([]kube.ResourceKey{key}, func(*cache.Resource, map[kube.ResourceKey]*cache.Resource) bool {
			found++
			return true
		})
		return found
	}
}
