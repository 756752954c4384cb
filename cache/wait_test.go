package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// An event, a bookmark or a list must end WaitFor when it reaches the resourceVersion.
func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
		var mu sync.Mutex
		done := map[string]bool{}
		for _, version := range []string{"", "0", "5", "6", "10", "100", "opaque"} {
			go func() {
				require.NoError(t, store.WaitFor(t.Context(), version))
				mu.Lock()
				defer mu.Unlock()
				done[version] = true
			}()
		}
		reached := func(want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			for _, version := range want {
				require.True(t, done[version], "WaitFor(%q) must have returned", version)
			}
			require.Len(t, done, len(want))
		}
		reached()
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.ListStarted}, lw.Event[*lw.Object]{Type: lw.Added, Object: object("x@5")})
		reached()
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Synced, ResourceVersion: "5"})
		reached("", "0", "5")
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Modified, Object: object("x@9"), ResourceVersion: "9"})
		reached("", "0", "5", "6")
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "11"})
		reached("", "0", "5", "6", "10")
		require.NoError(t, store.WaitFor(t.Context(), "11"))
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "opaque"})
		reached("", "0", "5", "6", "10", "opaque")
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Bookmark, ResourceVersion: "1000"})
		reached("", "0", "5", "6", "10", "100", "opaque")
		require.Empty(t, store.waiters)
	})
}

func TestWaitForReturnsContextCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := NewStore(nil, lw.Identity[*lw.Object]{})
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, enough)
		defer cancel()
		began := time.Now()
		require.Equal(t, enough, store.WaitFor(ctx, "5"))
		require.Equal(t, time.Minute, time.Since(began))
		require.Empty(t, store.waiters)
		require.Zero(t, store.Len(), "WaitFor must have released the lock")
	})
}

// WaitFor must also work for a store that has no resourceVersion.
func TestWaitForListWithoutResourceVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
		reached := make(chan error, 1)
		go func() { reached <- store.WaitFor(t.Context(), "") }()
		synctest.Wait()
		require.Empty(t, reached)
		applyAll(writer.store, lw.Event[*lw.Object]{Type: lw.Synced})
		require.NoError(t, <-reached)
	})
}

// syncsWhenDone is a context that ends, but only after the informer became synced.
type syncsWhenDone struct {
	context.Context
	synced chan struct{}
}

func (c syncsWhenDone) Done() <-chan struct{} {
	close(c.synced)
	return c.Context.Done()
}

func TestSyncedWinsOverLaterEnd(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for range 100 { // because select chooses at random
		synced := make(chan struct{})
		require.NoError(t, new(run).wait(syncsWhenDone{ended, synced}, synced, nil))
	}
}
