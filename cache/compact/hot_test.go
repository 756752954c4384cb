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

		size := 0
		for _, element := range codec.hot.entries {
			size += element.Value.(cachedObject).size()
		}
		require.Equal(t, codec.hot.size, size)
		require.LessOrEqual(t, size, limit)
		require.Equal(t, codec.hot.order.Len(), len(codec.hot.entries))
	}
	require.Greater(t, codec.hot.size, limit/2)
	require.Nil(t, codec.hot.get(objects[1]))
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
		require.Empty(t, codec.hot.entries)
	}
}
