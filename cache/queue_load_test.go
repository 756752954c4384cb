package cache

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// Each handler takes much longer to process the 3,000 objects than its resync interval lasts. It must still catch up with
// the store, and their queues must stay bounded. This works only if no resync begins before the previous one has ended.
func TestSlowHandlersFollowManyKeys(t *testing.T) {
	const names, capacity = 1000, 50 // in each of three namespaces
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			ctx, cancel := context.WithCancel(t.Context())
			w := &simulation{Rand: rand.New(rand.NewPCG(seed, 0)), names: names, requests: 5}
			for range 3 * names {
				w.step()
			}
			silent := make(chan struct{})
			last := sync.OnceFunc(func() { close(silent) })
			w.end = func() {
				last()
				<-ctx.Done()
				synctest.Wait()
			}
			informer := NewInformer(w, &lw.Options{PageSize: 500, NoStreamingList: true})
			var mu sync.Mutex // guards sums
			var sums []fold
			var handlers []*Registration[*lw.Object]
			for policy := range Unbounded + 1 {
				for _, resync := range []time.Duration{time.Millisecond, 100 * time.Millisecond} {
					sum, random := fold{}, rand.New(rand.NewPCG(seed, random.Uint64()))
					sums = append(sums, sum)
					handlers = append(handlers, informer.Handle(slowed(strict(t, sum, func() {}), &mu, func() {
						time.Sleep(time.Duration(random.IntN(4)) * time.Millisecond)
					}), &HandlerOptions[*lw.Object]{Policy: policy, Capacity: capacity, Resync: resync}))
				}
			}
			done := make(chan error)
			go func() { done <- informer.Run(ctx) }()
			<-silent
			synctest.Wait()
			require.Greater(t, informer.Store().Len(), names)
			limits := []int{2 * 3 * names, capacity, 3*names + len(w.log)}
			for silence := time.Now(); !haveAll(&mu, sums, informer.Store()); synctest.Wait() {
				require.Less(t, time.Since(silence), 10*time.Minute)
				for i, r := range handlers {
					require.LessOrEqual(t, r.Len(), limits[r.opts.Policy], "handler %d", i)
				}
				time.Sleep(time.Second)
			}
			cancel()
			<-done
			for _, sum := range sums {
				sum.equal(t, informer.Store())
			}
		})
	}
}

// slowed returns a handler that calls pause before each func of h. It holds mu while it calls the func.
func slowed(h Handler[*lw.Object], mu *sync.Mutex, pause func()) Handler[*lw.Object] {
	call := func(f func()) {
		pause()
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	return Handler[*lw.Object]{
		Added:    func(o *lw.Object, initial bool) { call(func() { h.Added(o, initial) }) },
		Modified: func(old, o *lw.Object) { call(func() { h.Modified(old, o) }) },
		Deleted:  func(o *lw.Object, stale bool) { call(func() { h.Deleted(o, stale) }) },
	}
}

// haveAll reports whether every fold contains exactly the objects of the store. mu guards the folds.
func haveAll(mu *sync.Mutex, sums []fold, store *Store[*lw.Object]) bool {
	mu.Lock()
	defer mu.Unlock()
	objects := store.List()
	for _, sum := range sums {
		if len(sum) != len(objects) {
			return false
		}
		for _, o := range objects {
			if sum[lw.KeyOf(o)] != o {
				return false
			}
		}
	}
	return true
}
