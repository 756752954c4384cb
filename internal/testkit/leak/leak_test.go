package leak

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFindNamesTheRemainingGoroutine(t *testing.T) {
	release := make(chan struct{})
	go remain(release)
	require.ErrorContains(t, find(0), "leak.remain")
	close(release)
	require.NoError(t, find(20*time.Second))
}

func remain(release chan struct{}) { <-release }
