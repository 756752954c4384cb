package compact

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// listed sorts pods and returns a list response body that contains them. The JSON of each Pod is generated only when
// the body is read.
func listed(pods []sample.Pod) io.Reader {
	slices.SortFunc(pods, func(a, b sample.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	parts := []io.Reader{strings.NewReader(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000000"},"items":[`)}
	for i, pod := range pods {
		parts = append(parts, &item{pod: pod, comma: i > 0})
	}
	return io.MultiReader(append(parts, strings.NewReader("]}\n"))...)
}

type item struct {
	pod   sample.Pod
	comma bool
	text  io.Reader
}

func (i *item) Read(p []byte) (int, error) {
	if i.text == nil {
		text := i.pod.Item()
		if i.comma {
			text = "," + text
		}
		i.text = strings.NewReader(text)
	}
	return i.text.Read(p)
}

func heap() int {
	runtime.GC()
	runtime.GC() // the second collection frees the objects of a sync.Pool
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// retained returns the number of heap bytes that a store uses per object. The number includes dictionaries, the
// compressor and the cache of uncompressed objects.
func retained[T lw.Keyed](t testing.TB, codec lw.Codec[T], pods []sample.Pod) int {
	client, err := lw.NewClient(&answers{listed(pods)}, lw.Pods(""), codec, nil)
	require.NoError(t, err)
	informer := cache.NewInformer(client, &lw.Options{NoStreamingList: true})
	before := heap()
	for event := range informer.Follow(t.Context()) {
		if event.Type == lw.Synced {
			break
		}
	}
	each := (heap() - before) / len(pods)
	require.Equal(t, len(pods), informer.Store().Len())
	runtime.KeepAlive(client)
	runtime.KeepAlive(pods)
	return each
}

func TestRetained(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 70 MB; run without -short")
	}
	const n = 10_000
	each := retained(t, newCodec(lw.RawCodec{}, hotBytes), sample.Templated(1, n, templates))
	t.Logf("%d Pods from %d templates: %d bytes per Pod", n, templates, each)
	require.Less(t, each, 1150)
}

// BenchmarkRetained reports the heap memory of a store, in bytes per Pod.
func BenchmarkRetained(b *testing.B) {
	for _, n := range []int{10_000, 50_000} {
		for _, templates := range []int{1, 100, 1000, 10_000} {
			pods := sample.Templated(1, n, templates)
			report := func(name string, each func() int) {
				b.Run(fmt.Sprintf("pods=%d/templates=%d/%s", n, templates, name), func(b *testing.B) {
					for b.Loop() {
						b.ReportMetric(float64(each()), "B/pod")
					}
					b.ReportMetric(0, "ns/op")
				})
			}
			report("raw", func() int { return retained(b, lw.RawCodec{}, pods) })
			report("compact", func() int { return retained(b, newCodec(lw.RawCodec{}, hotBytes), pods) })
			report("compact-nothing-hot", func() int { return retained(b, newCodec(lw.RawCodec{}, neverHot), pods) })
		}
	}
}
