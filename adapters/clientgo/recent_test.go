package clientgo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUnreadStructsAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, second := newRecent(), &decoded{}, &decoded{}
		r.keep(first, "struct")
		r.keep(second, "struct")
		time.Sleep(keepFor - time.Second)
		r.keep(second, "struct")
		time.Sleep(2 * time.Second)
		require.False(t, first.kept.Load())
		require.True(t, second.kept.Load(), "a struct must be kept for 10 seconds after it is read")
		time.Sleep(keepFor)
		synctest.Wait()
		require.False(t, second.kept.Load())
		require.Empty(t, r.kept)
	})
}
