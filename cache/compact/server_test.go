//go:build !js

// Excluded from GOOS=js, because the embedded server needs sockets.

package compact

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// The relist after the restart must report only the objects that changed during the outage.
func TestRelistAfterServerRestart(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	put := func(from, to int, phase string) {
		for i := from; i < to; i++ {
			_, err := server.Put("pods", fmt.Sprintf(`{"metadata":{"namespace":"shop","name":"web-%d"},"status":{"phase":%q}}`, i, phase))
			require.NoError(t, err)
		}
	}
	put(0, 200, "Running")
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods(""), NewCodec(lw.RawCodec{}), nil)
	require.NoError(t, err)
	informer := cache.NewInformer(client, nil)
	store := informer.Store()
	byPhase := cache.NewIndex(store, func(pod *Object, keys []string) []string {
		return append(keys, pod.Object().Get("status.phase").String())
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lists, changed := 0, 0
	for event, changes := range informer.Follow(ctx) {
		changed += len(changes)
		if event.Type == lw.WatchStarted && changed == 200 {
			put(200, 400, "Pending")
		}
		if event.Type == lw.Synced {
			lists++
		}
		if lists == 2 {
			break
		}
		if lists == 1 && changed == 400 { // the watch misses the next writes, and then its resourceVersion expires
			server.Close()
			put(300, 310, "Failed")
			server.Compact()
			require.NoError(t, server.Restart())
			changed = 0 // from now on, count only the changes from the relist
		}
	}
	require.Equal(t, 2, lists)
	require.Equal(t, 10, changed)
	require.Equal(t, []int{200, 190, 10}, []int{len(byPhase.List("Running")), len(byPhase.List("Pending")), len(byPhase.List("Failed"))})
	_, state := server.State("pods")
	require.Len(t, state, store.Len())
	for _, pod := range store.List() {
		require.Equal(t, pod.GetUID(), pod.Object().Get("metadata.uid").String())
	}
}
