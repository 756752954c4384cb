package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/scenarios"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestRealServer runs the same table against a real kube-apiserver as make test runs against the embedded one.
func TestRealServer(t *testing.T) { runScenarios(t, shared.Get(t)) }

// TestWithoutWatchCache runs it against one that reads all from etcd: lists of version "0" come in pages, and old versions
// expire with etcd's history.
func TestWithoutWatchCache(t *testing.T) {
	t.Parallel() // It has its own cluster, and mostly waits.
	runScenarios(t, kube.Start(t, "--watch-cache=false"))
}

func runScenarios(t *testing.T, c *kube.Cluster) {
	require.NoError(t, c.CreateCRD(t.Context()))
	client := c.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	scenarios.Run(t, &scenarios.Cluster{
		URL:         c.URL,
		Connect:     func(token string) *lwhttp.Options { return &lwhttp.Options{CAData: c.CAPEM, Token: token} },
		Client:      client,
		AdminToken:  c.AdminToken,
		NobodyToken: c.NobodyToken,
		Kill:        func(context.Context) error { c.Kill(); return nil },
		Start:       c.StartAPIServer,
		Expire:      c.ExpireVersions,
	})
}
