package clientgo

import (
	"sync"
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

// TestReadStructsAreNotReleased reads structs while the timer releases old ones. Each struct must survive, because it
// was just read.
func TestReadStructsAreNotReleased(t *testing.T) {
	for range 200 {
		clock := time.Unix(0, 0)
		r := &recent{now: func() time.Time { return clock }, waiting: true} // the test calls drop instead of the timer
		structs := make([]decoded, 1000)
		for n := range structs {
			r.keep(&structs[n], "struct")
		}
		clock = clock.Add(keepFor)
		var reading sync.WaitGroup
		started := make(chan struct{})
		reading.Go(func() {
			close(started)
			for n := range structs {
				r.keep(&structs[n], "struct")
			}
		})
		<-started
		r.drop()
		reading.Wait()
		require.Equal(t, len(structs), len(r.kept))
	}
}
