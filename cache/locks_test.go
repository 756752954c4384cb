//go:build countlocks

package cache

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/internal/lock"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// The test counts the lock operations between the arrival of a watch event and the return of the handler.
func TestLockOperationsPerEvent(t *testing.T) {
	const events = 100
	for name, word := range map[string]string{"modified": "~x@", "deleted and added": ""} {
		t.Run(name, func(t *testing.T) {
			withHarness(t, "x@1", func(t *testing.T, th *harness) {
				calls := 0
				count := func(*lw.Object, bool) { calls++ }
				th.informer.Handle(Handler[*lw.Object]{Added: count, Modified: func(_, _ *lw.Object) { calls++ }, Deleted: count}, nil)
				th.run()
				synctest.Wait()
				calls = 0
				before := lock.Operations.Load()
				for n := range events {
					next := word
					if word == "" {
						next = []string{"-x@", "+x@"}[n%2]
					}
					th.deliver(next + strconv.Itoa(n+2))
				}
				require.Equal(t, events, calls)
				require.LessOrEqual(t, lock.Operations.Load()-before, int64(5*events))
				require.Greater(t, lock.Operations.Load()-before, int64(2*events), "the counter must count lock operations")
			})
		})
	}
}
