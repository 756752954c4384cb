package compact

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

const tooOld = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410}}`

// A relist of the same objects must cause no changes. If an object has different JSON but the same resourceVersion, the
// relist must report a change, because a backup may have been restored.
func TestRelist(t *testing.T) {
	pods := sample.Templated(1, 1000, 100)
	first, again := listed(pods), listed(pods)
	pods[7].Phase = "Failed"
	changed := listed(pods)
	synctest.Test(t, func(t *testing.T) {
		expired := func() io.Reader { return strings.NewReader(tooOld) }
		client, err := lw.NewClient(&answers{first, expired(), again, expired(), changed}, lw.Pods(""), newCodec(lw.RawCodec{}, hotBytes), nil)
		require.NoError(t, err)
		informer := cache.NewInformer(client, &lw.Options{NoStreamingList: true})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var counts []int
		var objects [][]*Object
		count := 0
		for event, changes := range informer.Follow(ctx) {
			if count += len(changes); event.Type != lw.Synced {
				continue
			}
			counts, count = append(counts, count), 0
			objects = append(objects, informer.Store().List())
			if len(counts) == 3 {
				break
			}
		}
		require.Equal(t, []int{1000, 0, 1}, counts)
		for i, object := range objects[0] {
			require.Same(t, object, objects[1][i])
		}
	})
}

// Same must ignore managedFields, because RawCodec removes them. It must detect all other differences.
func TestSame(t *testing.T) {
	pod := sample.Pods(1, 1)[0]
	codec := newCodec(lw.RawCodec{}, neverHot)
	held := decode(t, codec, []sample.Pod{pod})[0]
	same := sameAs{codec, held, new([]bool)}
	_, err := watched(t, same, pod.Event("ADDED")+strings.Replace(pod.Event("ADDED"), `"kubelet"`, `"other"`, 1)+
		strings.Replace(pod.Event("ADDED"), `"phase":"`, `"phase":"Not`, 1))
	require.NoError(t, err)
	client, err := lw.NewClient(&answers{listed([]sample.Pod{pod})}, lw.Pods(""), same, nil)
	require.NoError(t, err)
	page := client.List(t.Context(), lw.ListOptions{})
	for _, err := range page.Objects {
		require.NoError(t, err)
	}
	require.Equal(t, []bool{true, true, false, true}, *same.results, "Same() must ignore managedFields and detect a different phase")
}

// sameAs is a codec that calls Same for every object that it decodes, and records the results.
type sameAs struct {
	*codec
	held    *Object
	results *[]bool
}

func (s sameAs) Decode(scanned *lw.Scanned) (*Object, error) {
	*s.results = append(*s.results, s.same(s.held, scanned))
	return s.codec.Decode(scanned)
}
