package cache

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// manyObjects describes n objects in the syntax of [object].
func manyObjects(n int) string {
	var words strings.Builder
	for i := range n {
		words.WriteString(" o" + strconv.Itoa(i) + "@1")
	}
	return words.String()
}

// Resyncs must not pile up when a handler is slower than its resync interval, and must not fill its queue. Changes from
// the stream must still arrive, and every object must be resynced.
func TestResyncsDoNotPileUp(t *testing.T) {
	for policy := range Unbounded + 1 {
		withHarness(t, manyObjects(200), func(t *testing.T, th *harness) {
			resyncs, modified := map[string]int{}, 0
			th.run()
			r := th.informer.Handle(Handler[*lw.Object]{Modified: func(old, o *lw.Object) {
				time.Sleep(50 * time.Millisecond)
				if old == o {
					resyncs[o.GetName()]++
				} else {
					modified++
				}
			}}, &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 10, Resync: 5 * time.Millisecond})
			synctest.Wait()
			require.Zero(t, r.Len())
			for version := range 100 {
				time.Sleep(500 * time.Millisecond)
				require.LessOrEqual(t, r.Len(), 1)
				th.send("~o" + strconv.Itoa(version) + "@" + strconv.Itoa(version+3))
			}
			time.Sleep(time.Minute)
			th.stop()
			require.Error(t, <-th.err)
			th.stop = nil
			require.Equal(t, 100, modified)
			require.Len(t, resyncs, 200)
		})
	}
}
