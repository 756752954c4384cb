package kube_test

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// The subtests share a cluster, because starting a cluster takes seconds.
func TestRestarts(t *testing.T) {
	t.Parallel()
	c := kube.Start(t)
	createConfigMap(t, c, configMaps, "kept")
	url := c.URL

	t.Run("data survives SIGKILL", func(t *testing.T) {
		c.Kill()
		_, _, err := c.Do(t.Context(), http.MethodGet, "/readyz", "", "")
		require.Error(t, err, "the server must be down")
		require.NoError(t, c.StartAPIServer(t.Context()))
		assertKept(t, c)
	})
	t.Run("data survives SIGTERM", func(t *testing.T) {
		require.NoError(t, c.Terminate())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, c.Wait(ctx))
		require.NoError(t, c.StartAPIServer(t.Context()))
		assertKept(t, c)
	})
	t.Run("old resourceVersions expire", func(t *testing.T) {
		var before list
		do(t, c, http.StatusOK, http.MethodGet, configMaps, "", &before)
		require.NoError(t, c.ExpireVersions(t.Context()))
		path := configMaps + "?watch=true&timeoutSeconds=5&resourceVersion=" + before.Metadata.ResourceVersion
		code, body, err := c.Do(t.Context(), http.MethodGet, path, "", "")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, code)
		assert.Contains(t, string(body), `"type":"ERROR"`)
		assert.Contains(t, string(body), `"code":410`)
		assertKept(t, c)
	})
	assert.Equal(t, url, c.URL)
	c.Close()
	assert.NoDirExists(t, filepath.Dir(c.CAFile))
	c.Close() // must have no effect, because Start also calls Close when the test ends
}

func TestExpireVersionsWithoutWatchCache(t *testing.T) {
	t.Parallel()
	c := kube.Start(t, "--watch-cache=false")
	createConfigMap(t, c, configMaps, "kept")
	require.NoError(t, c.ExpireVersions(t.Context()))
	assertKept(t, c)
}

// assertKept checks that the ConfigMap "kept" exists.
func assertKept(t *testing.T, c *kube.Cluster) {
	t.Helper()
	var got list
	do(t, c, http.StatusOK, http.MethodGet, configMaps, "", &got)
	assert.Contains(t, names(got), "kept")
}
