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

// TestReadersWhileItWrites: what each of many readers sees is sound, and never goes back. The race detector looks on.
func TestReadersWhileItWrites(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &world{Rand: rand.New(rand.NewPCG(1, 1)), requests: 150, end: cancel, calm: true}
	reflector := NewReflector(w, plainLists())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			r := reader{T: t, store: reflector.Store(), seen: map[lw.Key]int{}}
			for ctx.Err() == nil {
				r.look()
				runtime.Gosched() // wasm has one thread, and does not take it from anyone
			}
			<-reflector.Store().Synced()
		})
	}
	if err := reflector.Run(ctx); err != context.Canceled {
		t.Error(err)
	}
	readers.Wait()
}

// reader remembers what it saw, to find what cannot be.
type reader struct {
	*testing.T
	store *Store[*lw.Object]
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
	for object := range r.store.Namespace("a") {
		if object.GetNamespace() != "a" {
			r.Errorf("%v is in namespace a", object.Key())
		}
		r.see(object)
	}
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

func (r *reader) see(object *lw.Object) {
	version, _ := strconv.Atoi(object.GetResourceVersion())
	if version < r.seen[object.Key()] {
		r.Errorf("%v went from version %d back to %d", object.Key(), r.seen[object.Key()], version)
	}
	r.seen[object.Key()] = version
}
