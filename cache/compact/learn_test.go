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

// trainedAt returns after how many of n objects there was another dictionary, when each takes so many of its 1000 bytes.
func trainedAt(l *trainer, n, held int) (at []int) {
	raw := strings.Repeat("0123456789", 100)
	for i := range n {
		before := l.current.Load()
		if l.observe(raw, held, nil); l.current.Load() != before {
			at = append(at, i+1)
		}
	}
	return at
}

// TestTrainingSchedule: three at the beginning, and one more only when the collection has changed for good.
func TestTrainingSchedule(t *testing.T) {
	const last = 4096
	l := &NewCodec(lw.RawCodec{}, nil).trainer
	require.Equal(t, []int{16, 16 + 256, 16 + 256 + last}, trainedAt(l, 16+256+last, 500))
	require.Empty(t, trainedAt(l, 5*last, 200), "what is expected is known after the first so many")
	require.Empty(t, trainedAt(l, 5*last, 240))
	require.Equal(t, []int{last}, trainedAt(l, last, 260))
	require.Empty(t, trainedAt(l, 5*last, 900), "nothing better is to be had")
}

// TestDictionariesAreBounded: no more are made while objects need the old ones, and the collector frees those that none
// needs.
func TestDictionariesAreBounded(t *testing.T) {
	codec := NewCodec(lw.RawCodec{}, neverHot())
	codec.trainer.trained = len(trainAfter)
	pod := decode(t, lw.RawCodec{}, sample.Pods(1, 1))[0]
	var kept []*Object
	lesson := func() { // as if 4096 objects had come, and were less alike than expected
		codec.trainer.seen, codec.trainer.expected = trainAfter[len(trainAfter)-1]-1, 0.001
		kept = append(kept, codec.compress(pod), codec.compress(pod))
	}
	for range 3 * maxAlive {
		lesson()
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
	require.Eventually(t, collected, 20*time.Second, 5*time.Millisecond, "all but the present one")
	lesson()
	require.EqualValues(t, 2, codec.trainer.alive.Load())
}

// TestSamplesAreBounded: a few large objects are no large dictionary, and are not kept alive.
func TestSamplesAreBounded(t *testing.T) {
	l := &NewCodec(lw.RawCodec{}, nil).trainer
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
