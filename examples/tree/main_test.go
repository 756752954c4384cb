package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache/catalog"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// put stores an object. If owner is not nil, the object belongs to owner.
func put(t *testing.T, server *lwtest.Server, resource, name string, owner *lw.Object, status map[string]any) *lw.Object {
	metadata := map[string]any{"namespace": "shop", "name": name}
	if owner != nil {
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": owner.APIVersion(), "kind": owner.Kind(), "name": owner.GetName(), "uid": owner.GetUID()}}
	}
	object, err := server.Put(resource, map[string]any{"metadata": metadata, "status": status})
	require.NoError(t, err)
	return object
}

func TestTreeFollowsChanges(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	root := catalog.Ref{Type: catalog.Type{Group: "apps", Resource: "deployments"}, Key: lw.Key{Namespace: "shop", Name: "web"}}
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan error)
	go func() {
		err := show(ctx, transport, root, write, "")
		_ = write.Close()
		done <- err
	}()
	shown := func(expected ...string) { // reads until all expected lines have appeared in this order
		t.Helper()
		text := ""
		for _, line := range expected {
			for !strings.Contains(text, line) {
				part := make([]byte, 4096)
				n, err := read.Read(part)
				require.NoError(t, err, "missing %q in %s", line, text)
				text += string(part[:n])
			}
			_, text, _ = strings.Cut(text, line)
		}
	}
	shown("deployments.apps/shop/web does not exist yet")
	deployment := put(t, server, "deployments.apps", "web", nil, map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "False"}}})
	shown("Deployment web  not Available")
	put(t, server, "pods", "web-0", deployment, map[string]any{"phase": "Running"})
	put(t, server, "widgets.lw.example.com", "other", nil, nil)
	shown("Deployment web", "  Pod web-0", "Running")
	server.Close()
	shown("Deployment web", "stale since")
	stop()
	go func() { _, _ = io.Copy(io.Discard, read) }()
	require.ErrorIs(t, <-done, context.Canceled)
}
