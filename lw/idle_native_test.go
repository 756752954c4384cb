//go:build !js

package lw

import (
	"runtime"
	"testing"
	"weak"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// The garbage collector must be able to free the buffer of an idle watch, so nothing may refer to the buffer. In
// WebAssembly, the pool keeps one buffer instead.
func TestIdleWatchReleasesBuffer(t *testing.T) {
	pod := sample.Pods(1, 1)[0].Event("ADDED")
	var buffer weak.Pointer[byte]
	waited := 0
	stream := &bursts{
		strings: []string{pod, pod},
		reads: func(p []byte) {
			if len(p) > 512 { // excludes the small buffer that an idle stream reads into
				buffer = weak.Make(&p[0])
			}
		},
		waits: func([]byte) {
			if waited++; waited == 2 {
				for range 3 { // two garbage collections empty a sync.Pool
					runtime.GC()
				}
				require.Nil(t, buffer.Value())
			}
		},
	}
	client, err := NewClient(stream, Pods(""), RawCodec{}, nil)
	require.NoError(t, err)
	for _, err := range client.Watch(t.Context(), ListOptions{}) {
		require.NoError(t, err)
	}
	require.Equal(t, 2, waited)
	require.NotZero(t, buffer)
}
