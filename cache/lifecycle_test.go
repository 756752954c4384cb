package cache

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// A handler may be removed twice, or during its own call. Other handlers must continue.
func TestRemove(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var gone, stays, once log
		first := th.informer.Handle(gone.handler(), nil)
		th.informer.Handle(stays.handler(), nil)
		var self *Registration[*lw.Object]
		self = th.informer.Handle(Handler[*lw.Object]{Added: func(o *lw.Object, _ bool) {
			once.add(o.GetName(), false, "")
			self.Remove()
		}}, nil)
		th.run()
		first.Remove()
		first.Remove()
		th.deliver("~x@3 +y@4")
		require.Equal(t, "+x@1!", gone.take())
		require.Equal(t, "+x@1! ~x@1>3 +y@4", stays.take())
		require.Equal(t, "x", once.take())
		for _, r := range []*Registration[*lw.Object]{first, self} {
			require.True(t, isClosed(r.Done()))
		}
	})
}

// Remove must discard the queued changes. Done must be closed when the call in progress returns, even if the run has
// ended.
func TestRemoveDuringCall(t *testing.T) {
	for _, ends := range []bool{false, true} {
		withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
			slow := &log{block: make(chan struct{})}
			r := th.informer.Handle(slow.handler(), nil)
			th.run()
			if ends {
				th.stop()
			}
			r.Remove()
			synctest.Wait()
			require.False(t, isClosed(r.Done()))
			require.Zero(t, r.Len())
			require.Empty(t, r.queue.byKey)
			close(slow.block)
			synctest.Wait()
			require.True(t, isClosed(r.Done()))
			require.Equal(t, "+x@1!", slow.take())
			require.Empty(t, th.informer.handlers)
		})
	}
}

func TestStopOnEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{t: t, lines: []string{"list@1 x@1", "watch !forbidden"}}
		informer := NewInformer(source, &lw.Options{NoStreamingList: true, StopOn: lw.IsPermanent})
		var n log
		informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Resync: time.Hour})
		require.Equal(t, errs["forbidden"], informer.Run(t.Context()))
	})
}

func TestSameHandlerTwice(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n log
		th.informer.Handle(n.handler(), nil)
		second := th.informer.Handle(n.handler(), nil)
		th.run()
		require.Equal(t, "+x@1! +x@1!", n.take())
		second.Remove()
		th.deliver("~x@3")
		require.Equal(t, "~x@1>3", n.take())
	})
}

// The second run must deliver the changes that are still queued. Handlers may be added and removed between runs.
func TestRunAgain(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		never := th.informer.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { t.Error("a removed handler was called") }}, nil)
		never.Remove()
		require.True(t, isClosed(never.Done()))
		th.run()
		th.stop()
		synctest.Wait()
		require.Empty(t, th.err, "Run must wait for the handler call in progress")
		close(slow.block)
		require.Equal(t, context.Canceled, <-th.err)
		require.Equal(t, "+x@1!", slow.take())
		require.Len(t, th.informer.handlers, 1)

		var between log
		th.informer.Handle(between.handler(), nil)
		th.run()
		require.Equal(t, "+y@2!", slow.take())
		require.ElementsMatch(t, []string{"+x@1!", "+y@2!"}, strings.Fields(between.take()))
		th.stop()
		<-th.err
		th.run()
		require.Empty(t, slow.take()+between.take(), "no change may be delivered twice")
	})
}

func TestTwoInformerRunsPanic(t *testing.T) {
	withHarness(t, "", func(t *testing.T, th *harness) {
		th.run()
		require.Panics(t, func() { _ = th.informer.Run(t.Context()) })
	})
}

// After a panic, the handler skips the change and continues.
func TestPanicIsReported(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n log
		var values []any
		h := n.handler()
		h.Modified = func(_, o *lw.Object) { panic(o.GetName() + " is invalid") }
		r := th.informer.Handle(h, &HandlerOptions[*lw.Object]{OnPanic: func(value any, stack []byte) {
			values = append(values, value)
			require.Contains(t, string(stack), "TestPanicIsReported")
			require.NotContains(t, string(stack), "\n\ngoroutine ", "the stack must not include other goroutines")
		}})
		th.run()
		th.deliver("~x@3 +y@4")
		require.Equal(t, "+x@1! +y@4", n.take())
		require.Equal(t, []any{"x is invalid"}, values)
		require.True(t, isClosed(r.Synced()))
	})
}

func TestConcurrentAddAndRemove(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	source := &liveObjects{events: make(chan lw.Event[*lw.Object])}
	informer := NewInformer(source, plainLists())
	err := make(chan error, 2)
	go func() { err <- informer.Run(ctx) }()
	go func() { err <- source.addAndDelete(ctx) }()
	var group sync.WaitGroup
	for n := range 100 {
		group.Go(func() {
			for i := range 5 {
				called := make(chan struct{}, 1)
				call := func(*lw.Object, bool) { notify(called) }
				policy := Policy((n + i) % 3)
				r := informer.Handle(Handler[*lw.Object]{Added: call, Deleted: call}, &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 3})
				<-called
				r.Remove()
				if i%2 == 0 {
					<-r.Done()
				}
			}
		})
	}
	group.Wait()
	cancel()
	require.Equal(t, context.Canceled, <-err)
	require.Equal(t, context.Canceled, <-err)
	require.Empty(t, informer.handlers)
}

// Run must panic even while the previous Run waits for the last handler call. Otherwise the handlers of the previous
// Run would be lost.
func TestRunPanicsBeforePreviousReturns(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		th.run()
		th.stop()
		synctest.Wait()
		require.Panics(t, func() { _ = th.informer.Run(t.Context()) })
		close(slow.block)
		<-th.err
		th.run()
		require.Equal(t, "+x@1! +y@2!", slow.take())
	})
}

// A handler that ends its goroutine, for example with testing.T.FailNow, must be removed.
func TestHandlerEndsGoroutine(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var other log
		gone := th.informer.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { runtime.Goexit() }},
			&HandlerOptions[*lw.Object]{Policy: Block, Capacity: 1})
		th.informer.Handle(other.handler(), nil)
		th.run()
		th.deliver("+y@3 ~x@4 ~x@5")
		require.True(t, isClosed(gone.Done()))
		require.Equal(t, "+x@1! +y@3 ~x@1>4 ~x@4>5", other.take())
	})
}
