package scenarios_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/scenarios"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

func TestEmbeddedServer(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{
		Tokens: map[string]bool{"admin": true, "nobody": false},
	})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	restart := func(context.Context) error { return server.Restart() }
	scenarios.Run(t, &scenarios.Cluster{
		URL:         server.URL,
		Connect:     func(token string) *lwhttp.Options { return &lwhttp.Options{Token: token} },
		Client:      client,
		AdminToken:  "admin",
		NobodyToken: "nobody",
		Kill:        func(context.Context) error { server.Close(); return nil },
		Start:       restart,
		Expire: func(ctx context.Context) error {
			server.Close()
			server.Compact()
			return restart(ctx)
		},
	})
}
