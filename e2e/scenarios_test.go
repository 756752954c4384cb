package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/scenarios"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestRealServer runs the scenarios of make test against a real kube-apiserver instead of the embedded one.
func TestRealServer(t *testing.T) { runScenarios(t, shared.Get(t)) }

// TestWithoutWatchCache runs them against a server that reads everything from etcd. It pages lists at resourceVersion
// "0", and old resourceVersions expire with etcd's history.
func TestWithoutWatchCache(t *testing.T) {
	t.Parallel() // starts its own cluster and is mostly idle
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
