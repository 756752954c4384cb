package secrets

import (
	"context"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestWatchesSecretWhileInUse(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	manager := NewManager(transport)
	defer manager.Close()
	key := lw.Key{Namespace: "default", Name: "token"}
	put := func(value string) *lw.Object {
		object, err := server.Put("secrets", `{"metadata":{"name":"token"},"data":{"value":"`+value+`"}}`)
		require.NoError(t, err)
		return object
	}
	value := func(version string) string {
		t.Helper()
		require.NoError(t, manager.WaitFor(t.Context(), key, version))
		object, err := manager.Get(t.Context(), key)
		require.NoError(t, err)
		return object.Get("data.value").String()
	}

	_, err = manager.Get(t.Context(), key)
	require.ErrorIs(t, err, ErrNotUsed)
	require.ErrorIs(t, manager.WaitFor(t.Context(), key, "1"), ErrNotUsed)
	manager.Leave(key)

	require.NoError(t, manager.Use(key))
	require.NoError(t, manager.Use(key))
	_, err = manager.Get(t.Context(), key)
	require.ErrorIs(t, err, ErrNotFound)
	require.Equal(t, "b25l", value(put("b25l").GetResourceVersion()))
	server.DropConnections()
	require.Equal(t, "dHdv", value(put("dHdv").GetResourceVersion()))
	_, err = server.Put("secrets", `{"metadata":{"name":"other"}}`)
	require.NoError(t, err)
	for _, request := range server.Requests(nil) {
		require.Contains(t, request.URL.RawQuery, "metadata.name%3Dtoken", "the manager must not request other Secrets")
	}

	manager.Leave(key)
	require.Equal(t, 1, manager.Len(), "the manager must keep a Secret until its last user leaves")
	manager.Leave(key)
	require.Zero(t, manager.Len())
	_, err = manager.Get(t.Context(), key)
	require.ErrorIs(t, err, ErrNotUsed)
}

func TestContextEndsGet(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	server.Fail(nil, 100, lwtest.Stall())
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	manager := NewManager(transport)
	defer manager.Close()
	key := lw.Key{Namespace: "default", Name: "token"}
	require.NoError(t, manager.Use(key))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = manager.Get(ctx, key)
	require.ErrorIs(t, err, context.Canceled)
}
