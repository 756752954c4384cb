package e2e

import (
	"context"
	"testing"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/examples/scheduler/course"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestScheduler runs the example's course against a real kube-apiserver, which is killed where the embedded one drops its
// connections. No controller runs there, so nodes are as the course makes them.
func TestScheduler(t *testing.T) {
	t.Parallel() // It has its own cluster, and mostly waits.
	c := kube.Start(t)
	client := c.HTTPClient()
	defer client.CloseIdleConnections()
	course.Run(t, course.Cluster{
		URL: c.URL, Options: &lwhttp.Options{CAData: c.CAPEM, Token: c.AdminToken}, Client: client, Token: c.AdminToken,
		Break: func(ctx context.Context) error {
			c.Kill()
			client.CloseIdleConnections()
			return c.StartAPIServer(ctx)
		},
	})
}
