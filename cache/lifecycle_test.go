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

// TestRemove: one of two, twice, by itself, and while a call is under way.
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
		th.expect("~x@3 +y@4")
		require.Equal(t, "+x@1!", gone.take())
		require.Equal(t, "+x@1! ~x@1>3 +y@4", stays.take())
		require.Equal(t, "x", once.take())
		for _, r := range []*Registration[*lw.Object]{first, self} {
			require.True(t, isClosed(r.Done()))
			require.NoError(t, r.Drain(t.Context()), "nothing is left to wait for")
		}
	})
}

// TestRemoveDuringCall: what waits is dropped, and it is done when the call has returned, though the run may have ended.
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
			require.Empty(t, th.informer.suspended)
		})
	}
}

// TestStopOnEndsARun, and with it all that its handlers have going.
func TestStopOnEndsARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{t: t, lines: []string{"list@1 x@1", "watch !forbidden"}}
		informer := NewInformer(source, &lw.Options{NoStreamingList: true, StopOn: lw.IsPermanent})
		var n log
		informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Resync: time.Hour})
		require.Equal(t, errs["forbidden"], informer.Run(t.Context()))
	})
}

// TestDrain returns when the last call has returned, and has been told all that waited.
func TestDrain(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		r := th.informer.Handle(slow.handler(), nil)
		th.run()
		th.expect("+y@3")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, r.Drain(ctx))
		th.expect("+z@4")
		drained := make(chan error)
		go func() { drained <- r.Drain(t.Context()) }()
		slow.block <- struct{}{}
		synctest.Wait()
		require.Equal(t, "+x@1! +y@3", slow.take(), "what came after the first call of Drain is not told")
		require.False(t, isClosed(r.Done()), "a call is under way")
		slow.block <- struct{}{}
		require.NoError(t, <-drained)
	})
}

// TestDrainContinuesInNextRun: what waits as a run ends is told by the next one, though the handler is to go.
func TestDrainContinuesInNextRun(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		r := th.informer.Handle(slow.handler(), nil)
		th.run()
		th.stop()
		close(slow.block)
		<-th.err
		drained := make(chan error, 1)
		go func() { drained <- r.Drain(t.Context()) }()
		synctest.Wait()
		require.Empty(t, drained)
		th.run()
		require.NoError(t, <-drained)
		require.Equal(t, "+x@1! +y@2!", slow.take())
	})
}

// TestTheSameHandlerTwice makes two registrations.
func TestTheSameHandlerTwice(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n log
		th.informer.Handle(n.handler(), nil)
		second := th.informer.Handle(n.handler(), nil)
		th.run()
		require.Equal(t, "+x@1! +x@1!", n.take())
		second.Remove()
		th.expect("~x@3")
		require.Equal(t, "~x@1>3", n.take())
	})
}

// TestRunAgain: what was not told is told then; handlers may come and go while nothing runs.
func TestRunAgain(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		never := th.informer.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { t.Error("it was removed") }}, nil)
		never.Remove()
		require.True(t, isClosed(never.Done()))
		th.run()
		th.stop()
		synctest.Wait()
		require.Empty(t, th.err, "a handler is still being called")
		close(slow.block)
		require.Equal(t, context.Canceled, <-th.err)
		require.Equal(t, "+x@1!", slow.take())
		require.Len(t, th.informer.suspended, 1)

		var between log
		th.informer.Handle(between.handler(), nil)
		th.run()
		require.Equal(t, "+y@2!", slow.take())
		require.ElementsMatch(t, []string{"+x@1!", "+y@2!"}, strings.Fields(between.take()))
		require.Empty(t, th.informer.suspended)
		th.stop()
		<-th.err
		require.Len(t, th.informer.suspended, 2, "each of them once")
		th.run()
	})
}

// TestTwoInformerRunsPanic, as two of a reflector do.
func TestTwoInformerRunsPanic(t *testing.T) {
	withHarness(t, "", func(t *testing.T, th *harness) {
		th.run()
		require.Panics(t, func() { _ = th.informer.Run(t.Context()) })
	})
}

// TestPanicIsReported, with its stack; the change is skipped, and the handler goes on.
func TestPanicIsReported(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var n log
		var values []any
		h := n.handler()
		h.Modified = func(_, o *lw.Object) { panic(o.GetName() + " is wrong") }
		r := th.informer.Handle(h, &HandlerOptions[*lw.Object]{OnPanic: func(value any, stack []byte) {
			values = append(values, value)
			require.Contains(t, string(stack), "TestPanicIsReported")
			require.NotContains(t, string(stack), "\n\ngoroutine ", "those of others")
		}})
		th.run()
		th.expect("~x@3 +y@4")
		require.Equal(t, "+x@1! +y@4", n.take())
		require.Equal(t, []any{"x is wrong"}, values)
		require.True(t, isClosed(r.Synced()))
	})
}

// TestConcurrentAddAndRemove: a hundred goroutines add and remove handlers while objects change. The race detector looks on.
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
				told := make(chan struct{}, 1)
				tell := func(*lw.Object, bool) { notify(told) }
				policy := Policy((n + i) % 3)
				r := informer.Handle(Handler[*lw.Object]{Added: tell, Deleted: tell}, &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 3})
				<-told
				if i%2 == 0 {
					r.Remove()
					<-r.Done()
				} else if r.Drain(ctx) != nil {
					t.Error("it was not drained")
				}
			}
		})
	}
	group.Wait()
	cancel()
	require.Equal(t, context.Canceled, <-err)
	require.Equal(t, context.Canceled, <-err)
	require.Empty(t, informer.handlers)
	require.Empty(t, informer.suspended)
}

// TestRunBeforePreviousReturned panics, also while it waits for a handler's last call: its handlers would be forgotten.
func TestRunBeforePreviousReturned(t *testing.T) {
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

// TestHandlerEndsGoroutine, as a test's FailNow does, are removed: nobody could call them.
func TestHandlerEndsGoroutine(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var other log
		gone := th.informer.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { runtime.Goexit() }},
			&HandlerOptions[*lw.Object]{Policy: Block, Capacity: 1})
		th.informer.Handle(other.handler(), nil)
		th.run()
		th.expect("+y@3 ~x@4 ~x@5")
		require.True(t, isClosed(gone.Done()))
		require.Equal(t, "+x@1! +y@3 ~x@1>4 ~x@4>5", other.take())
	})
}
