package scheduler_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/seed-6d2a410a/listwatch/examples/scheduler/schedulertest"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// Module e2e runs the same test against a kube-apiserver.
func TestEmbeddedServer(t *testing.T) {
	server, err := lwtest.Start(&lwtest.Options{Tokens: []string{"admin"}})
	require.NoError(t, err)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	schedulertest.Run(t, schedulertest.Cluster{
		URL: server.URL, Options: &lwhttp.Options{Token: "admin"}, Client: client, Token: "admin",
		Break: func(context.Context) error { server.DropConnections(); return nil },
	})
}
