package cache

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// While a writer changes the store, each reader must see a consistent store whose resourceVersion never decreases.
func TestConcurrentReaders(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &simulation{Rand: rand.New(rand.NewPCG(1, 1)), calm: true}
	opts := plainLists()
	wake := make(chan struct{}) // ends every delay
	opts.Wake = wake
	go func() {
		for {
			select {
			case wake <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	informer := NewInformer(w, opts)
	byNamespace := NewIndex(informer.Store(), ByNamespace[*lw.Object])
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			r := reader{T: t, store: informer.Store(), byNamespace: byNamespace, seen: map[lw.Key]int{}}
			for ctx.Err() == nil {
				r.look()
				runtime.Gosched() // lets the readers run, because WASM has only one thread and no preemption
			}
			<-informer.Store().Synced()
		})
	}
	for range 30 { // every run starts with a list
		run, end := context.WithCancel(ctx)
		w.requests, w.end = 5, end
		if err := informer.Run(run); err != context.Canceled {
			t.Error(err)
		}
	}
	cancel()
	readers.Wait()
}

// reader remembers the latest resourceVersions that it read, which must never decrease.
type reader struct {
	*testing.T
	store       *Store[*lw.Object]
	byNamespace *Index[*lw.Object, string]
	at          int            // last resourceVersion of the store
	seen        map[lw.Key]int // last resourceVersion of each object
}

// look calls each of the store's read methods once and checks the results.
func (r *reader) look() {
	version, _ := strconv.Atoi(r.store.ResourceVersion())
	if version < r.at {
		r.Errorf("the store changed from resourceVersion %d back to %d", r.at, version)
	}
	r.at = version
	once := map[lw.Key]bool{}
	for _, object := range r.store.List() {
		if once[lw.KeyOf(object)] {
			r.Errorf("the store lists %v twice", lw.KeyOf(object))
		}
		once[lw.KeyOf(object)] = true
		r.see(object)
	}
	for _, object := range r.byNamespace.List("a") {
		if object.GetNamespace() != "a" {
			r.Errorf("the list of namespace a contains %v", lw.KeyOf(object))
		}
		r.see(object)
	}
	r.snapshot()
	if all := r.store.List(); len(all) > 0 {
		if now, ok := r.store.Get(lw.KeyOf(all[0])); ok {
			r.see(now)
		}
	}
	if n := r.store.Len(); n < 0 || n > 9 {
		r.Errorf("the store has %d objects, but there are only 9 keys", n)
	}
}

// snapshot checks that a snapshot is consistent with its namespace index and its resourceVersion.
func (r *reader) snapshot() {
	snapshot := r.store.Snapshot()
	version, _ := strconv.Atoi(snapshot.ResourceVersion())
	byNamespace, n := r.byNamespace.In(snapshot), 0
	for _, namespace := range byNamespace.Keys() {
		for _, object := range byNamespace.List(namespace) {
			if found, ok := snapshot.Get(lw.KeyOf(object)); !ok || found != object || object.GetNamespace() != namespace {
				r.Errorf("%v is in the index but not in the snapshot", lw.KeyOf(object))
			}
			n++
		}
	}
	for object := range snapshot.All() {
		if v, _ := strconv.Atoi(object.GetResourceVersion()); v > version {
			r.Errorf("%v has resourceVersion %d in a snapshot with resourceVersion %d", lw.KeyOf(object), v, version)
		}
	}
	if n != snapshot.Len() {
		r.Errorf("found %d objects in the index and %d in the snapshot", n, snapshot.Len())
	}
}

func (r *reader) see(object *lw.Object) {
	version, _ := strconv.Atoi(object.GetResourceVersion())
	if version < r.seen[lw.KeyOf(object)] {
		r.Errorf("%v changed from resourceVersion %d back to %d", lw.KeyOf(object), r.seen[lw.KeyOf(object)], version)
	}
	r.seen[lw.KeyOf(object)] = version
}
