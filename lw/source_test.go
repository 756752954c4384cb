package lw

import (
	"context"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wrapper is a source that wraps a Client. If passes is set, it calls PassLookup, to declare that it does not change
// the Client's objects.
type wrapper struct {
	*Client[*Object]
	passes bool
}

func (w *wrapper) List(ctx context.Context, opts ListOptions) *Page[*Object] {
	if w.passes {
		opts = opts.PassLookup(w, w.Client)
	}
	return w.Client.List(ctx, opts)
}

func (w *wrapper) Watch(ctx context.Context, opts ListOptions) iter.Seq2[Event[*Object], error] {
	return w.Client.Watch(ctx, opts)
}

// If a wrapper changes the client's objects, the caller holds changed objects, so the client must not reuse them. A
// wrapper that changes nothing can permit the reuse with PassLookup.
func TestOnlyWrappersThatPassReuseOnReuseObjects(t *testing.T) {
	held, err := ParseObject([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"a"}}`))
	require.NoError(t, err)
	list := func(wrap func(*Client[*Object]) ListerWatcher[*Object]) (object *Object) {
		s := &scriptedTransport{answers: []answer{{body: `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","resourceVersion":"a"}}]}`}}}
		lookup := func(_, name, _, _ []byte) (Keyed, bool) { return held, string(name) == "a" }
		for event := range Resume(t.Context(), wrap(s.client(t, Pods(""))), Held{Lookup: lookup}, plainLists) {
			if event.Type == Synced {
				break
			}
			if event.Type == Added {
				object = event.Object
			}
		}
		return object
	}
	require.Same(t, held, list(func(c *Client[*Object]) ListerWatcher[*Object] { return c }))
	require.NotSame(t, held, list(func(c *Client[*Object]) ListerWatcher[*Object] { return &wrapper{c, false} }))
	require.Same(t, held, list(func(c *Client[*Object]) ListerWatcher[*Object] { return &wrapper{c, true} }))
}

func TestConcurrentStreamFailuresAreAllCounted(t *testing.T) {
	const each = 100_000
	var server support
	var streams sync.WaitGroup
	for range 4 {
		streams.Go(func() {
			for range each {
				server.streamFailed(errReset)
			}
		})
	}
	streams.Wait()
	require.EqualValues(t, 4*each, server.streams.Load())
}
