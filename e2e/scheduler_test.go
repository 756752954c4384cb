package e2e

import (
	"context"
	"testing"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/examples/scheduler/schedulertest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestScheduler runs the scheduler example with a real server. Here, the function Break kills the server. In the
// example's own test, it only drops connections.
func TestScheduler(t *testing.T) {
	t.Parallel() // this test uses its own cluster and mostly waits
	c := kube.Start(t)
	client := c.HTTPClient()
	defer client.CloseIdleConnections()
	schedulertest.Run(t, schedulertest.Cluster{
		URL: c.URL, Options: &lwhttp.Options{CAData: c.CAPEM, Token: c.AdminToken}, Client: client, Token: c.AdminToken,
		Break: func(ctx context.Context) error {
			c.Kill()
			client.CloseIdleConnections()
			return c.StartAPIServer(ctx)
		},
	})
}
