package compact

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// trainedAt passes n objects of 1,000 bytes to a trainer. compressed is the compressed size of each object in bytes.
// trainedAt returns the object counts at which the trainer trained a dictionary.
func trainedAt(l *trainer, n, compressed int) (at []int) {
	raw := strings.Repeat("0123456789", 100)
	for i := range n {
		before := l.current.Load()
		l.observe(raw, compressed, nil)
		if l.current.Load() != before {
			at = append(at, i+1)
		}
	}
	return at
}

func TestTrainingSchedule(t *testing.T) {
	const last = 4096
	l := &newCodec(lw.RawCodec{}, hotBytes).trainer
	require.Equal(t, []int{16, 16 + 256, 16 + 256 + last}, trainedAt(l, 16+256+last, 500))
	require.Empty(t, trainedAt(l, 5*last, 200), "the first interval after training must only set the expected ratio")
	require.Empty(t, trainedAt(l, 5*last, 240))
	require.Equal(t, []int{last}, trainedAt(l, last, 260))
	require.Empty(t, trainedAt(l, 5*last, 900), "the first interval after training must only set the expected ratio")
}

// While the maximum number of dictionaries is in use, the codec must not train another dictionary. Unused dictionaries
// must be freed.
func TestDictionariesAreBounded(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, neverHot)
	codec.trainer.trained = len(trainAfter)
	pod := decode(t, lw.RawCodec{}, sample.Pods(1, 1))[0]
	var kept []*Object
	train := func() { // simulates the end of an interval whose objects compressed worse than expected
		codec.trainer.seen, codec.trainer.expected = trainAfter[len(trainAfter)-1]-1, 0.001
		kept = append(kept, codec.compress(pod), codec.compress(pod))
	}
	for range 3 * maxAlive {
		train()
	}
	require.EqualValues(t, maxAlive, codec.trainer.alive.Load())
	for _, object := range kept {
		require.Equal(t, pod.Raw(), object.Object().Raw())
	}
	kept = nil
	collected := func() bool {
		runtime.GC()
		return codec.trainer.alive.Load() == 1
	}
	require.Eventually(t, collected, 20*time.Second, 5*time.Millisecond, "all dictionaries except the current one must be freed")
	train()
	require.EqualValues(t, 2, codec.trainer.alive.Load())
}

// Large objects must not enlarge a dictionary, and samples must not keep them in memory.
func TestSamplesAreBounded(t *testing.T) {
	l := &newCodec(lw.RawCodec{}, hotBytes).trainer
	large := strings.Repeat("0123456789", maxDictionary)
	for range samples + 1 {
		l.observe(large, len(large), nil)
	}
	require.NotNil(t, l.current.Load())
	for _, text := range l.sample {
		require.Len(t, text, maxSample)
		require.NotSame(t, unsafe.StringData(large), unsafe.StringData(text))
	}
}
