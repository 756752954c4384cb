package lw_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// answers is a transport that responds to each request with the next string.
type answers []string

func (a *answers) Open(ctx context.Context, _ *lw.Request) (*lw.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	body := (*a)[0]
	*a = (*a)[1:]
	return &lw.Response{ReadCloser: io.NopCloser(strings.NewReader(body))}, nil
}

// A relist must not copy unchanged objects, and must ignore changes to fields that the projection drops. It must report
// changes to the other fields even if the resourceVersion is the same, for example after a backup was restored.
func TestInformerOfProjections(t *testing.T) {
	const n = 1000
	const tooOld = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410}}`
	var items []string
	for _, pod := range sample.Pods(1, n) {
		items = append(items, pod.Item())
	}
	list := func() string {
		return `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000"},"items":[` + strings.Join(items, ",") + "]}"
	}
	first := list()
	items[1] = strings.Replace(items[1], `"schedulerName":"default-scheduler"`, `"schedulerName":"other"`, 1)
	notKept := list()
	changed := sample.Pods(1, n)[2]
	changed.Phase = "Failed"
	items[2] = changed.Item()
	kept := list()
	synctest.Test(t, func(t *testing.T) {
		projection, err := lw.Project("metadata.labels", "spec.containers[*].image", "status.phase")
		require.NoError(t, err)
		transport := &answers{first, tooOld, first, tooOld, notKept, tooOld, kept}
		client, err := lw.NewClient(transport, lw.Pods(""), projection, nil)
		require.NoError(t, err)
		informer := cache.NewInformer(client, &lw.Options{NoStreamingList: true})
		allocated, changes := foldLists(t, informer, 4)
		require.Equal(t, []int{n, 0, 0, 1}, changes)
		for _, bytes := range allocated[1:] {
			require.Less(t, bytes, allocated[0]/4, "relists must allocate little memory, but the lists allocated %d bytes", allocated)
		}
		for _, pod := range informer.Store().List() {
			require.False(t, pod.Get("spec.nodeName").Exists())
			require.True(t, pod.Get("status.phase").Exists())
		}
	})
}

// foldLists runs informer until it has received the given number of lists. It returns the allocated bytes and the
// number of changes for each list.
func foldLists(t *testing.T, informer *cache.Informer[*lw.Object], lists int) (allocated []uint64, counts []int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var before, after runtime.MemStats
	count := 0
	for event, changes := range informer.Follow(ctx) {
		count += len(changes)
		switch event.Type {
		case lw.ListStarted:
			count = 0
			runtime.ReadMemStats(&before)
		case lw.Synced:
			runtime.ReadMemStats(&after)
			allocated, counts = append(allocated, after.TotalAlloc-before.TotalAlloc), append(counts, count)
			if len(counts) == lists {
				return allocated, counts
			}
		}
	}
	return allocated, counts
}
