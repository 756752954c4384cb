package cache

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// TestConcurrentReaders: each of many readers sees a sound state that never goes back, also under the race detector.
func TestConcurrentReaders(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &simulation{Rand: rand.New(rand.NewPCG(1, 1)), calm: true}
	ctx = clock.WithReplay(ctx, time.Now) // no delay is waited for
	reflector := NewReflector(w, plainLists())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			r := reader{T: t, store: reflector.Store(), lists: NewLister(reflector.Store()), seen: map[lw.Key]int{}}
			for ctx.Err() == nil {
				r.look()
				runtime.Gosched() // wasm has one thread, and does not take it from anyone
			}
			<-reflector.Store().Synced()
		})
	}
	for range 30 { // each begins with a list
		run, end := context.WithCancel(ctx)
		w.requests, w.end = 5, end
		if err := reflector.Run(run); err != context.Canceled {
			t.Error(err)
		}
	}
	cancel()
	readers.Wait()
}

// reader remembers what it saw, to find what cannot be.
type reader struct {
	*testing.T
	store *Store[*lw.Object]
	lists *Lister[*lw.Object]
	at    int            // the store's version
	seen  map[lw.Key]int // each object's version
}

// look uses every method once.
func (r *reader) look() {
	version, _ := strconv.Atoi(r.store.ResourceVersion())
	if version < r.at {
		r.Errorf("the store went from version %d back to %d", r.at, version)
	}
	r.at = version
	once := map[lw.Key]bool{}
	for _, object := range r.store.List() {
		if once[object.Key()] {
			r.Errorf("%v is in one list twice", object.Key())
		}
		once[object.Key()] = true
		r.see(object)
	}
	for _, object := range r.lists.List("a") {
		if object.GetNamespace() != "a" {
			r.Errorf("%v is in namespace a", object.Key())
		}
		r.see(object)
	}
	r.snapshot()
	for object := range r.store.All() {
		if now, ok := r.store.Get(object.Key()); ok {
			r.see(now)
		}
		break
	}
	if n := r.store.Len(); n < 0 || n > 9 {
		r.Errorf("%d objects of 9 keys", n)
	}
}

// snapshot checks that a snapshot agrees with itself, whenever it is looked at.
func (r *reader) snapshot() {
	snapshot := r.store.Snapshot()
	version, _ := strconv.Atoi(snapshot.ResourceVersion())
	byNamespace, n := r.lists.index.In(snapshot), 0
	for _, namespace := range byNamespace.Keys() {
		for object := range byNamespace.All(namespace) {
			if found, ok := snapshot.Get(object.Key()); !ok || found != object || object.GetNamespace() != namespace {
				r.Errorf("%v is in the index and not in the snapshot", object.Key())
			}
			n++
		}
	}
	for object := range snapshot.All() {
		if v, _ := strconv.Atoi(object.GetResourceVersion()); v > version {
			r.Errorf("%v has version %d in a snapshot of version %d", object.Key(), v, version)
		}
	}
	if n != snapshot.Len() {
		r.Errorf("%d objects in the index, and %d in the snapshot", n, snapshot.Len())
	}
}

func (r *reader) see(object *lw.Object) {
	version, _ := strconv.Atoi(object.GetResourceVersion())
	if version < r.seen[object.Key()] {
		r.Errorf("%v went from version %d back to %d", object.Key(), r.seen[object.Key()], version)
	}
	r.seen[object.Key()] = version
}
