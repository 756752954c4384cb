package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestShards checks that two shards together contain each object exactly once. The embedded server does not support
// shards.
func TestShards(t *testing.T) {
	t.Parallel() // this test uses its own cluster and mostly waits
	c := kube.Start(t, "--feature-gates=ShardedListAndWatch=true")
	for i := range 40 {
		code, body, err := c.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/default/configmaps", "application/json",
			fmt.Sprintf(`{"metadata":{"name":"cm-%d"}}`, i))
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, code, "%s", body)
	}
	transport, err := lwhttp.New(c.URL, &lwhttp.Options{CAData: c.CAPEM, Token: c.AdminToken})
	require.NoError(t, err)
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: "default"}, lw.RawCodec{}, nil)
	require.NoError(t, err)
	seen := map[string]int{}
	for _, half := range []string{"'0x0000000000000000','0x8000000000000000'", "'0x8000000000000000','0x10000000000000000'"} {
		before := len(seen)
		opts := &lw.Options{ShardSelector: "shardRange(object.metadata.uid," + half + ")"}
		for event := range lw.ListAndWatch(t.Context(), client, opts) {
			require.NotEqual(t, lw.Interrupted, event.Type, "%v", event.Interruption)
			if event.Type == lw.Added {
				seen[event.Object.GetName()]++
			}
			if event.Type == lw.WatchStarted {
				break
			}
		}
		require.Greater(t, len(seen), before, "each shard must contain some of the 40 objects")
	}
	require.Len(t, seen, 40)
	for name, times := range seen {
		require.Equal(t, 1, times, name)
	}
}
