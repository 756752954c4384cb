package discovery_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/discovery"
	"github.com/stretchr/testify/require"
)

// server returns fixed responses by path, and 404 for other paths. Each response has the ETag "1".
type server struct {
	answers map[string]string
	sent    atomic.Int32 // number of responses with a body
}

func (s *server) Open(_ context.Context, req *lw.Request) (*lw.Response, error) {
	answer, ok := s.answers[req.Path]
	switch {
	case !ok:
		return nil, &lw.StatusError{Code: http.StatusNotFound}
	case req.IfNoneMatch == `"1"`:
		return nil, lw.ErrNotModified
	}
	s.sent.Add(1)
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(answer)), ETag: `"1"`}, nil
}

const pods = `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"pods","responseKind":{"kind":"Pod"},
	"scope":"Namespaced","singularResource":"pod","shortNames":["po"],"categories":["all"],"verbs":["list","watch"]}]}]}]}`

const metrics = `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}`

func TestUnchangedDocumentsAreNotSentAgain(t *testing.T) {
	s := &server{answers: map[string]string{"/api": pods, "/apis": metrics}}
	var d discovery.Discoverer
	for range 2 {
		types, err := d.Discover(t.Context(), s)
		require.NoError(t, err)
		require.Equal(t, []discovery.TypeInfo{{
			Type: discovery.Type{Resource: "pods"}, Version: "v1", Kind: "Pod", Namespaced: true, Singular: "pod",
			ShortNames: []string{"po"}, Categories: []string{"all"}, Verbs: []string{"list", "watch"},
		}}, types.All)
		require.ErrorContains(t, types.Missing["metrics.k8s.io/v1beta1"], "does not respond")
	}
	require.EqualValues(t, 2, s.sent.Load())
}

func TestFailedDocumentIsMissing(t *testing.T) {
	s := &server{answers: map[string]string{"/api": pods}}
	types, err := new(discovery.Discoverer).Discover(t.Context(), s)
	require.NoError(t, err)
	require.Len(t, types.All, 1)
	require.ErrorContains(t, types.Missing["/apis"], "404")
}

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
			_, err := new(discovery.Discoverer).Discover(t.Context(), server)
			require.ErrorIs(t, err, discovery.ErrTooLarge)
			require.Less(t, heap.Grown(), int64(64<<20))
			require.EqualValues(t, 2, server.asked.Load())
		})
	}
	nested := strings.Repeat("[", 20000)
	_, err := new(discovery.Discoverer).Discover(t.Context(), &server{answers: map[string]string{"/api": nested, "/apis": nested}})
	require.ErrorContains(t, err, "the response is not JSON")
}

// TestLargeDocumentMemory checks that a document of the maximum size takes little more memory than its own size.
func TestLargeDocumentMemory(t *testing.T) {
	const first = `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[{"resource":"a"}`
	s := &server{answers: map[string]string{"/api": first + strings.Repeat(",{}", 800_000) + "]}]}]}"}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, err := new(discovery.Discoverer).Discover(t.Context(), s)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, all.All, 1)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20), "allocated bytes, including garbage")
}
