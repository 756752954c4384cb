package workqueue

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Many goroutines add and process keys. After the last addition of a key, a worker must process the key once more. No
// key may be in two loop bodies at once.
func TestWorkers(t *testing.T) {
	const keys, producers, workers, additions = 50, 4, 8, 5_000
	q := newQueue[int](time.Microsecond, 10*time.Microsecond, unlimited())
	var asked, seen [keys]atomic.Int64
	var busy [keys]atomic.Bool
	var working, producing sync.WaitGroup
	for range workers {
		working.Go(func() {
			for key := range q.Keys(t.Context()) {
				if !busy[key].CompareAndSwap(false, true) {
					t.Error("two workers must not process the same key at the same time")
				}
				version := asked[key].Load()
				if rand.IntN(4) == 0 && version < additions {
					q.Retry(key)
				} else {
					seen[key].Store(version)
				}
				busy[key].Store(false)
			}
		})
	}
	for range producers {
		producing.Go(func() {
			for range additions {
				key := rand.IntN(keys)
				asked[key].Add(1)
				if rand.IntN(10) == 0 {
					q.AddAfter(key, time.Microsecond)
				} else {
					q.Add(key)
				}
			}
		})
	}
	producing.Wait()
	for key := range keys { // adds each key once more without a delay; this time the work cannot fail
		asked[key].Add(additions)
		q.Add(key)
	}
	q.Close()
	working.Wait()
	for key := range keys {
		require.Equal(t, asked[key].Load(), seen[key].Load(), "key %d must be processed after it is last added", key)
	}
	require.Empty(t, q.entries)
}
