package cache

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// Each handler has its own resync interval. A resync must not replace a queued change.
func TestResync(t *testing.T) {
	withHarness(t, "x@1#in y@2", func(t *testing.T, th *harness) {
		var often, seldom, never, some log
		handle := func(n *log, period time.Duration) {
			th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Resync: period})
		}
		handle(&often, time.Second)
		handle(&seldom, 3*time.Second)
		handle(&never, 0)
		th.informer.Handle(some.handler(), &HandlerOptions[*lw.Object]{
			Resync: 3 * time.Second, Filter: func(o *lw.Object) bool { return o.GetUID() == "in" }})
		th.run()
		all := []*log{&often, &seldom, &never, &some}
		for _, n := range all {
			n.take()
		}
		time.Sleep(3*time.Second + time.Millisecond)
		synctest.Wait()
		var calls []int
		for _, n := range all {
			calls = append(calls, len(n.entries))
		}
		require.Equal(t, []int{6, 2, 0, 1}, calls)
		require.Equal(t, "~x@1>1", some.take())
	})
}

// A handler must receive its queued changes before a resync. A resync that is due while the handler is busy must not be
// lost.
func TestResyncOfSlowHandler(t *testing.T) {
	withHarness(t, "x@1 y@2 w@2", func(t *testing.T, th *harness) {
		n := &log{}
		r := th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Resync: time.Minute})
		th.run()
		n.take()
		n.block = make(chan struct{})
		th.deliver("~x@3 ~x@4 +z@5 ~y@6 -y@7")
		time.Sleep(90 * time.Second) // a resync is due while the handler is busy
		n.block <- struct{}{}
		synctest.Wait()
		require.Equal(t, 2, r.Len(), "z and y must keep their queued changes")
		close(n.block)
		synctest.Wait()
		changes, resyncs, _ := strings.Cut(n.take(), " -y@7 ")
		require.Equal(t, "~x@1>3 ~x@3>4 +z@5", changes)
		require.ElementsMatch(t, []string{"~x@4>4", "~z@5>5", "~w@2>2"}, strings.Fields(resyncs))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ElementsMatch(t, []string{"~x@4>4", "~z@5>5", "~w@2>2"}, strings.Fields(n.take()))
	})
}

// A second run resumes without any change, so no change starts the goroutine of the handler.
func TestResyncInNextRun(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n log
		th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Resync: time.Minute})
		th.run()
		th.stop()
		<-th.err
		n.take()
		th.run()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "~x@1>1", n.take())
	})
}

// A resync must begin on time, even if other objects change in the meantime.
func TestResyncPeriod(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		resyncs := 0
		go func() {
			for c := range th.informer.Changes(t.Context(), &HandlerOptions[*lw.Object]{Resync: 10 * time.Second}) {
				if c.Type == lw.Modified && c.Old == c.New && c.New.GetName() == "x" {
					resyncs++
				}
			}
		}()
		th.run()
		for version := range 100 {
			time.Sleep(time.Second)
			th.send("~y@" + string(rune('0'+version/10+3)) + string(rune('0'+version%10)))
		}
		synctest.Wait()
		require.InDelta(t, 10, resyncs, 1)
	})
}
