package cache

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// network is a fake lw.Transport that returns lists and watches from memory.
type network func(req *lw.Request) io.Reader

func (n network) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &lw.Response{ReadCloser: io.NopCloser(n(req))}, nil
}

const (
	listHead = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000"},"items":[`
	listTail = "]}\n"
	tooOld   = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}` + "\n"
)

// podInformer returns an informer of Pods that uses a real client.
func podInformer(t *testing.T, n network) *Informer[*lw.Object] {
	t.Helper()
	client, err := lw.NewClient(n, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)
	return NewInformer(client, plainLists())
}

// A relist of unchanged objects must not decode the objects or allocate memory for them.
func TestUnchangedListIsNotCopied(t *testing.T) {
	synctest.Test(t, unchangedListIsNotCopied)
}

func unchangedListIsNotCopied(t *testing.T) {
	const n = 3000
	var items []string
	for _, pod := range sample.Pods(1, n) {
		items = append(items, pod.Item())
	}
	list := listHead + strings.Join(items, ",") + listTail
	changed := sample.Pods(1, n)[n/2]
	changed.ResourceVersion += n
	items[n/2] = changed.Item()
	relist := listHead + strings.Join(items, ",") + listTail
	answers := []string{list, tooOld, list, tooOld, relist}
	informer := podInformer(t, func(req *lw.Request) io.Reader {
		answer := answers[0]
		answers = answers[1:]
		return strings.NewReader(answer)
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var before runtime.MemStats
	var bytes []uint64 // bytes allocated during each list
	var first map[lw.Key]*lw.Object
	for event, changes := range informer.Follow(ctx) {
		switch event.Type {
		case lw.ListStarted, lw.Interrupted:
			runtime.ReadMemStats(&before)
		case lw.Synced:
			var after runtime.MemStats
			runtime.ReadMemStats(&after)
			bytes = append(bytes, after.TotalAlloc-before.TotalAlloc)
			if first == nil {
				first = snapshot(informer.Store())
			}
			if len(answers) == 0 {
				cancel()
			}
		}
		if len(bytes) > 0 && len(changes) > 0 {
			require.Equal(t, changed.Name, changes[0].New.GetName())
		}
	}
	require.Greater(t, bytes[0], uint64(len(list)/4), "the first list must allocate its objects")
	require.Less(t, bytes[1], uint64(len(list)/50), "the second list must allocate little memory")
	require.Less(t, bytes[2], uint64(len(list)/50), "the third list must allocate only the changed object")
	last := snapshot(informer.Store())
	require.Len(t, last, n)
	for key, object := range first {
		require.Equal(t, key.Name != changed.Name, object == last[key], key)
	}
}

func snapshot(store *Store[*lw.Object]) map[lw.Key]*lw.Object {
	objects := make(map[lw.Key]*lw.Object, store.Len())
	for _, object := range store.List() {
		objects[lw.KeyOf(object)] = object
	}
	return objects
}

// The informer calls Store.known for every list item, so known must not allocate memory.
func TestKnownAllocatesNothing(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.run("list@1 some-namespace/a-name-longer-than-thirty-two-bytes-in-all@1#u1")
		namespace, name := []byte("some-namespace"), []byte("a-name-longer-than-thirty-two-bytes-in-all")
		for _, c := range []struct {
			uid, version string
			known        bool
		}{{"u1", "1", true}, {"", "1", true}, {"u2", "1", false}, {"u1", "2", false}, {"u1", "", false}} {
			uid, version := []byte(c.uid), []byte(c.version)
			require.Zero(t, testing.AllocsPerRun(100, func() {
				if _, ok := s.store.known(namespace, name, uid, version); ok != c.known {
					t.Fatalf("UID %q, resourceVersion %q: known() returned %v", uid, version, ok)
				}
			}))
		}
		_, ok := s.store.known([]byte("other"), name, []byte("u1"), []byte("1"))
		require.False(t, ok)
		s.run("list@2 x@")
		_, ok = s.store.known(nil, []byte("x"), nil, nil)
		require.False(t, ok, "known() must not find an object without a resourceVersion")
	})
}
