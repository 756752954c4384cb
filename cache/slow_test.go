//go:build !race

package cache

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// While a handler is blocked, a million updates of 1,000 keys must not use more memory than one update per key.
func TestBlockedHandler(t *testing.T) {
	source := &liveObjects{events: make(chan lw.Event[*lw.Object], 100)}
	informer := NewInformer(source, plainLists())
	stuck := make(chan struct{})
	r := informer.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { <-stuck }}, nil)
	before := heapInUse()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()
	for version := range 1_000_000 {
		o := object("pod-" + strconv.Itoa(version%1000) + "@" + strconv.Itoa(version+3))
		source.events <- lw.Event[*lw.Object]{Type: lw.Modified, Object: o, ResourceVersion: o.GetResourceVersion()}
	}
	require.True(t, eventually(func() bool { return informer.Store().ResourceVersion() == "1000002" }))
	require.Less(t, heapInUse()-before, int64(50<<20))
	require.LessOrEqual(t, r.Len(), 1000)
	cancel()
	close(stuck)
	<-done
}

// After a burst of changes, a queue must not keep the memory of its map, even if it never becomes empty again.
func TestQueueFreesMemoryAfterBurst(t *testing.T) {
	const burst = 200_000
	for _, left := range []int{0, 10} {
		q := newQueue(Coalesce, 0, objectKey)
		before := heapInUse()
		for i := range burst {
			q.add(queuedChange[*lw.Object]{Change[*lw.Object]{Type: lw.Added, New: object(strconv.Itoa(i))}, nil})
		}
		require.Equal(t, burst, q.length)
		for range burst - left {
			q.take(false)
		}
		require.Less(t, heapInUse()-before, int64(1<<20))
		require.Len(t, q.byKey, left)
		runtime.KeepAlive(q)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse)
}
