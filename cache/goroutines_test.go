package cache

import (
	"bytes"
	"runtime/pprof"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// countHandlerGoroutines returns the number of goroutines that run handlers in this process. No other tests may run at
// the same time, because their handlers would count.
func countHandlerGoroutines(t *testing.T) int {
	var stacks bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2))
	return bytes.Count(stacks.Bytes(), []byte(".(*Registration[...]).run(0x"))
}

// A handler must have a goroutine only while it has queued changes or is being removed, in the first run and in later
// ones.
func TestIdleHandlerHasNoGoroutine(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n, gone log
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(n.handler(), nil)
		removed := th.informer.Handle(gone.handler(), nil)
		th.run()
		require.Zero(t, countHandlerGoroutines(t))
		require.True(t, isClosed(removed.Synced()))

		th.deliver("~x@3")
		require.Equal(t, "+x@1! ~x@1>3", n.take())
		require.Zero(t, countHandlerGoroutines(t))

		removed.Remove()
		synctest.Wait()
		require.True(t, isClosed(removed.Done()))
		require.Zero(t, countHandlerGoroutines(t))

		th.informer.Handle(slow.handler(), nil)
		synctest.Wait()
		require.Equal(t, 1, countHandlerGoroutines(t), "a handler call in progress must use one goroutine")
		close(slow.block)

		th.stop()
		require.Error(t, <-th.err)
		th.run()
		th.deliver("~x@4")
		require.Equal(t, "~x@3>4", n.take(), "the handler must receive the change once")
		require.Equal(t, "+x@3! ~x@3>4", slow.take())
	})
}

// A handler with a resync interval keeps its goroutine while it is idle, because the goroutine waits for the timer.
func TestResyncingHandlerKeepsGoroutine(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n log
		th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Resync: time.Hour})
		th.run()
		require.Equal(t, 1, countHandlerGoroutines(t))
		time.Sleep(time.Hour + time.Minute)
		require.Equal(t, "+x@1! ~x@1>1", n.take())
	})
}
