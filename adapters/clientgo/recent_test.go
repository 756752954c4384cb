package clientgo

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// holds reports whether r keeps a struct in memory.
func (r *recent) holds(value any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.current, value) || slices.Contains(r.older, value)
}

func TestUnreadStructsAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, second := &recent{}, &decoded{}, &decoded{}
		r.keep(first, "first")
		r.keep(second, "second")
		time.Sleep(keepFor - time.Second)
		r.keep(second, "second")
		time.Sleep(2 * time.Second)
		r.keep(second, "second")
		require.True(t, r.holds("first"), "a struct must be kept for 10 seconds after it is read")
		time.Sleep(keepFor)
		require.False(t, r.holds("first"), "a struct must be released 20 seconds after it is read")
		require.True(t, r.holds("second"), "a struct must be kept for 10 seconds after it is read")
		time.Sleep(2 * keepFor)
		synctest.Wait()
		require.False(t, r.holds("second"))
		require.False(t, r.waiting, "without structs, no timer may run")
	})
}

// TestReadStructsAreNotReleased reads structs while a period begins. Each struct must survive the next period, because it
// was just read.
func TestReadStructsAreNotReleased(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) { // so that the timer does not begin another period
			r := &recent{}
			structs := make([]decoded, 1000)
			for n := range structs {
				r.keep(&structs[n], n)
			}
			r.next()
			var reading sync.WaitGroup
			started := make(chan struct{})
			reading.Go(func() {
				close(started)
				for n := range structs {
					r.keep(&structs[n], n)
				}
			})
			<-started
			r.next()
			reading.Wait()
			kept := map[any]bool{}
			for _, value := range slices.Concat(r.current, r.older) {
				kept[value] = true
			}
			require.Len(t, kept, len(structs))
		})
	}
}
