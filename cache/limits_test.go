package cache

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Other tests use these constants as their bounds, so only this test notices if a constant changes.
func TestLimitsOfSavedState(t *testing.T) {
	require.Equal(t, 64<<10, chunk, "size of the buffer in bytes")
	require.Equal(t, 1<<30-1, maxText, "length of a string in bytes")
}
