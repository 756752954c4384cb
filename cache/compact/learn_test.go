package compact

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Each interval must be 16 times as long as the previous one.
func TestTrainingSchedule(t *testing.T) {
	l := &newCodec(lw.RawCodec{}, hotBytes).trainer
	raw := strings.Repeat("0123456789", 100)
	var at []int
	for i := range 80_000 {
		before := l.current.Load()
		l.observe(raw, nil)
		if l.current.Load() != before {
			at = append(at, i+1)
		}
	}
	require.Equal(t, []int{16, 16 + 256, 16 + 256 + 4096, 16 + 256 + 4096 + 65536}, at)
}

// The garbage collector must free a dictionary with its last object.
func TestUnusedDictionariesAreFreed(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, neverHot)
	pod := decode(t, lw.RawCodec{}, sample.Pods(1, 1))[0]
	train := func() *Object {
		codec.trainer.seen = codec.trainer.interval - 1
		codec.compress(pod)
		return codec.compress(pod)
	}
	var freed atomic.Bool
	kept := train()
	runtime.AddCleanup(kept.dictionary, func(done *atomic.Bool) { done.Store(true) }, &freed)
	train()
	runtime.GC()
	require.Equal(t, pod.Raw(), kept.Object().Raw())
	require.False(t, freed.Load())
	kept = nil
	collected := func() bool {
		runtime.GC()
		return freed.Load()
	}
	require.Eventually(t, collected, time.Minute, 5*time.Millisecond)
}

// Large objects must not enlarge a dictionary, and samples must not keep them in memory.
func TestSamplesAreBounded(t *testing.T) {
	l := &newCodec(lw.RawCodec{}, hotBytes).trainer
	large := strings.Repeat("0123456789", maxDictionary)
	for range samples + 1 {
		l.observe(large, nil)
	}
	require.NotNil(t, l.current.Load())
	for _, text := range l.sample {
		require.Len(t, text, maxSample)
		require.NotSame(t, unsafe.StringData(large), unsafe.StringData(text))
	}
}
