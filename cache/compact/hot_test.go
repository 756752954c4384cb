package compact

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

func TestCacheIsBounded(t *testing.T) {
	const limit = 20_000
	codec := newCodec(lw.RawCodec{}, limit)
	objects := decode(t, codec, sample.Templated(1, 100, 10))
	favourite := objects[0]
	text := favourite.Object()
	for _, object := range objects[1:] {
		require.Same(t, object.Object(), object.Object())
		require.Same(t, text, favourite.Object(), "a frequently read object must stay cached")

		recent, older := sizeOf(codec.hot.recent), sizeOf(codec.hot.older)
		require.Equal(t, codec.hot.size, recent)
		require.LessOrEqual(t, recent+older, limit)
	}
	require.NotEmpty(t, codec.hot.older)
	require.Nil(t, codec.hot.get(objects[1]))
}

func sizeOf(entries map[*Object]*lw.Object) (size int) {
	for _, text := range entries {
		size += len(text.Raw()) + entryOverhead
	}
	return size
}

func TestDecodedObjectIsCached(t *testing.T) {
	codec := newCodec(lw.RawCodec{}, hotBytes)
	decode(t, codec, sample.Pods(1, 20))
	object := decode(t, codec, sample.Pods(2, 1))[0]
	require.NotNil(t, codec.hot.get(object))
	require.Zero(t, testing.AllocsPerRun(10, func() { object.Object() }))
}

func TestDisabledCache(t *testing.T) {
	for _, limit := range []int{-1, 1000} {
		codec := newCodec(lw.RawCodec{}, limit)
		object := decode(t, codec, sample.Pods(1, 20))[19]
		require.Equal(t, object.Object(), object.Object())
		require.NotSame(t, object.Object(), object.Object())
		require.Empty(t, codec.hot.recent)
	}
}
