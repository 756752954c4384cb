package jsonscan

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Each part of a frame counts as progress, but the wait for the next frame does not.
func TestProgressWithinBytes(t *testing.T) {
	calls := 0
	r := New(iotest.OneByteReader(strings.NewReader("\x05hello\x00")), 100)
	r.Progress = func() { calls++ }
	require.True(t, r.Await())
	size := r.Byte()
	require.Zero(t, calls)
	require.Equal(t, "hello", string(r.Bytes(uint64(size))))
	require.Equal(t, 5, calls)
	require.True(t, r.Await())
	require.Equal(t, 5, calls)
}
