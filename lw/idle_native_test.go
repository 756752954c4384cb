//go:build !js

package lw

import (
	"runtime"
	"testing"
	"weak"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// TestIdleWatchGivesItsBufferBack: nothing views it any more, so that the collector can take it. As
// WebAssembly the one buffer that is lent stays, for the next stream.
func TestIdleWatchGivesItsBufferBack(t *testing.T) {
	pod := sample.Pods(1, 1)[0].Event("ADDED")
	var buffer weak.Pointer[byte]
	waited := 0
	stream := &bursts{
		texts: []string{pod, pod},
		reads: func(p []byte) {
			if len(p) > 512 { // not the buffer of an idle stream
				buffer = weak.Make(&p[0])
			}
		},
		waits: func([]byte) {
			if waited++; waited == 2 {
				for range 3 { // a sync.Pool forgets within two
					runtime.GC()
				}
				require.Nil(t, buffer.Value())
			}
		},
	}
	client, err := NewClient(stream, Pods(""), RawCodec{}, nil)
	require.NoError(t, err)
	for _, err := range client.Watch(t.Context(), WatchOptions{}) {
		require.NoError(t, err)
	}
	require.Equal(t, 2, waited)
	require.NotZero(t, buffer)
}
