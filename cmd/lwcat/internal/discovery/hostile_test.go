package discovery_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// endlessServer responds with a string that repeats forever.
type endlessServer struct {
	first, then string
	heap        *memory.Heap
	asked       atomic.Int32
}

func (e *endlessServer) Open(context.Context, *lw.Request) (*lw.Response, error) {
	e.asked.Add(1)
	return &lw.Response{ReadCloser: &memory.Endless{First: e.first, Then: e.then, Most: 64 << 20, Heap: e.heap}}, nil
}

// TestDocumentSizeLimit checks that reading an endless document fails after 8 MiB.
func TestDocumentSizeLimit(t *testing.T) {
	for name, c := range map[string]struct{ first, then string }{
		"endless string":      {`{"kind":"`, "x"},
		"endless white space": {"", " "},
		"resources":           {`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"resources":[{}`, ",{}"},
		"verbs":               {`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"resources":[{"resource":"a","verbs":[""`, `,""`},
		"legacy group list":   {`{"kind":"APIGroupList","groups":[{}`, ",{}"},
	} {
		t.Run(name, func(t *testing.T) {
			heap := memory.NewHeap()
			server := &endlessServer{first: c.first, then: c.then, heap: heap}
			_, err := discovery.Ask(t.Context(), server)
			require.ErrorIs(t, err, discovery.ErrTooLarge)
			require.Less(t, heap.Grown(), int64(64<<20))
			require.EqualValues(t, 2, server.asked.Load())
		})
	}
	_, err := discovery.Ask(t.Context(), &endlessServer{first: strings.Repeat("[", 20000)})
	require.ErrorContains(t, err, "the response is not JSON")
}

// TestLargeDocumentMemory checks that a document of the maximum size takes little more memory than its own size.
func TestLargeDocumentMemory(t *testing.T) {
	const first = `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[{"resource":"a"}`
	s := &server{answers: map[string]string{"/api": first + strings.Repeat(",{}", 800_000) + "]}]}]}"}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, err := discovery.Ask(t.Context(), s)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, all.All, 1)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20), "allocated bytes, including garbage")
}
