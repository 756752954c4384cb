//go:build !js

package savefile_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/savefile"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// process simulates a process that uses a saved file. It restores the file if it exists, follows the Pods up to the
// server's resourceVersion and saves the file. It returns the changes as name@resourceVersion.
func process(t *testing.T, server *lwtest.Server, path string) (events []string) {
	transport, err := lwhttp.New(server.URL, nil)
	require.NoError(t, err)
	defer transport.Close()
	client, err := lw.NewClient(transport, lw.Pods("shop"), lw.RawCodec{}, nil)
	require.NoError(t, err)
	informer := cache.NewInformer(client, nil)
	origin := server.URL + " shop/pods"
	_ = savefile.Restore(path, informer, origin, lw.ParseObject) // after an error, the run starts with a list
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- informer.Run(ctx) }()
	version, _ := server.State("pods")
	require.NoError(t, informer.Store().WaitFor(ctx, version))
	for change := range informer.Changes(ctx, nil) {
		events = append(events, change.New.GetName()+"@"+change.New.GetResourceVersion())
		if len(events) == informer.Store().Len() {
			break
		}
	}
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, savefile.Save(path, informer.Store().Snapshot(), origin, (*lw.Object).Raw))
	return events
}

// listed returns the number of list requests that the server received, including streaming lists. It omits checks, which
// request one object.
func listed(server *lwtest.Server) int {
	return len(server.Requests(func(r lwtest.Request) bool {
		q := r.URL.Query()
		return r.Verb == "list" && q.Get("limit") != "1" || q.Get("sendInitialEvents") == "true"
	}))
}

// A resumed process must list only if the saved resourceVersion has expired.
func TestResumeWithoutList(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	put := func(name string) {
		_, err := server.Put("pods", `{"metadata":{"namespace":"shop","name":"`+name+`"}}`)
		require.NoError(t, err)
	}
	path := filepath.Join(t.TempDir(), "pods")
	put("web-0")
	require.Len(t, process(t, server, path), 1)
	require.Equal(t, 1, listed(server))

	put("web-1")
	require.Len(t, process(t, server, path), 2)
	require.Len(t, process(t, server, path), 2)
	require.Equal(t, 1, listed(server))

	put("web-2")
	server.Compact()
	require.Len(t, process(t, server, path), 3)
	require.Equal(t, 2, listed(server))
	put("web-3")
	require.Len(t, process(t, server, path), 4)
	require.Equal(t, 2, listed(server))
}
