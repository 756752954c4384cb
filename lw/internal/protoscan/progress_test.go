package protoscan

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Each part of a frame counts as progress, but the wait for the next frame does not.
func TestProgressWithinFrames(t *testing.T) {
	calls := 0
	r := New(iotest.OneByteReader(strings.NewReader("\x00\x00\x00\x05hello\x00")), 100)
	r.Progress = func() { calls++ }
	require.True(t, r.Begin())
	size := r.Uint32()
	require.Zero(t, calls)
	require.Equal(t, "hello", string(r.Frame(uint64(size))))
	require.Equal(t, 5, calls)
	require.True(t, r.Begin())
	require.Equal(t, 5, calls)
}
