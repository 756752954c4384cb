package cache

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// indexThatPanics adds an index whose keys func panics on its n-th call. The func returns two keys per object. Because
// the index caches only single keys, it also has to call the func for deletions.
func indexThatPanics(store *Store[*lw.Object], n int) {
	NewIndex(store, func(o *lw.Object, to []string) []string {
		if n--; n == 0 {
			panic("bug in the index")
		}
		return append(to, o.GetName(), o.GetResourceVersion())
	})
}

// A relist deletes objects until an index func panics. The program then recovers and runs the informer again. After
// that, the changes that the handlers have received must add up to the objects in the store.
func TestHandlersFollowStoreAfterPanicInIndex(t *testing.T) {
	for calls := 1; calls <= 8; calls++ { // 1 and 2: in the watch event, 3 to 5: in the list, 6 to 8: in the deletions after it
		synctest.Test(t, func(t *testing.T) {
			source := &liveObjects{first: []string{"a@1", "b@1", "c@1", "d@1"}, events: make(chan lw.Event[*lw.Object])}
			informer := NewInformer(source, plainLists())
			sums := []fold{{}, {}, {}, {}}
			for policy := range Unbounded + 1 {
				informer.Handle(strict(t, sums[policy], func() {}), &HandlerOptions[*lw.Object]{Policy: policy})
			}
			ctx, stop := context.WithCancel(t.Context())
			run := func() <-chan any {
				ended := make(chan any, 1)
				go func() {
					defer func() { ended <- recover() }()
					_ = informer.Run(ctx)
				}()
				synctest.Wait()
				return ended
			}
			ended := run()
			indexThatPanics(informer.Store(), 4+calls) // NewIndex calls the func for the four objects
			source.first, source.version = []string{"d@5", "e@6"}, "9"
			o := object("a@4")
			source.events <- lw.Event[*lw.Object]{Type: lw.Modified, Object: o, ResourceVersion: "4"}
			synctest.Wait()
			if len(ended) == 0 {
				source.expire()
				synctest.Wait()
			}
			require.Len(t, ended, 1)
			require.Equal(t, "bug in the index", <-ended)
			informer.Handle(strict(t, sums[Unbounded+1], func() {}), nil)
			resumes := informer.Store().resumable() != ""
			ended = run()
			if resumes {
				source.expire()
				synctest.Wait()
			}
			for _, sum := range sums {
				sum.equal(t, informer.Store())
			}
			require.Equal(t, []string{"d", "e"}, names(slices.Values(informer.Store().List())))
			stop()
			require.Nil(t, <-ended)
		})
	}
}

// After a panic, the next call must also return the changes that were made before it. Otherwise all returned changes
// would no longer add up to the objects in the store.
func TestChangesAreNotLostByPanicInIndex(t *testing.T) {
	store, w := NewStore(nil, lw.Identity[*lw.Object]{})
	indexThatPanics(store, 3)
	require.Panics(t, func() { w.Put(object("a@1"), object("b@2"), object("c@3")) })
	require.Equal(t, 2, store.Len())
	require.Len(t, w.Put(object("d@4")), 3)
	require.Len(t, w.Put(object("e@5")), 1)
}
