package cache

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// A handler must receive existing objects with Initial set, whether it was added before or after the start of Run.
func TestHandlersReceiveChanges(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		var early, late log
		th.informer.Handle(early.handler(), nil)
		th.run()
		require.Equal(t, "+x@1! +y@2!", early.take())
		th.deliver("~x@3 +z@4 -y@5")
		require.Equal(t, "~x@1>3 +z@4 -y@5", early.take())

		th.informer.Handle(late.handler(), nil)
		synctest.Wait()
		require.ElementsMatch(t, []string{"+x@3!", "+z@4!"}, strings.Fields(late.take()))
		th.deliver("-x@6")
		require.Equal(t, "-x@6 -x@6", early.take()+" "+late.take())
	})
}

func TestNilFuncsAreNotCalled(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		r := th.informer.Handle(Handler[*lw.Object]{}, nil)
		th.run()
		th.deliver("~x@3 -x@4 +y@5")
		require.Zero(t, r.Len())
	})
}

// Informer.Synced must stay open until the handlers have processed the first list. Store.Synced is closed earlier.
func TestSyncedWaitsForHandlers(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		first := th.informer.Handle(slow.handler(), nil)
		second := th.informer.Handle(Handler[*lw.Object]{}, nil)
		th.run()
		require.True(t, isClosed(th.informer.Store().Synced()))
		require.False(t, isClosed(first.Synced()))
		require.True(t, isClosed(second.Synced()))
		require.False(t, isClosed(th.informer.Synced()))
		slow.block <- struct{}{}
		synctest.Wait()
		require.True(t, isClosed(first.Synced()))
		require.True(t, isClosed(th.informer.Synced()))
		late := th.informer.Handle(Handler[*lw.Object]{}, nil)
		synctest.Wait()
		require.True(t, isClosed(late.Synced()))
	})
}

// Synced must also wait for a handler that is added while another handler still processes the first list.
func TestSyncedWaitsForHandlersAddedMeanwhile(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		slow, late := &log{block: make(chan struct{})}, &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		th.run()
		require.True(t, isClosed(th.informer.Store().Synced()))
		th.informer.Handle(late.handler(), nil)
		close(slow.block)
		synctest.Wait()
		require.False(t, isClosed(th.informer.Synced()))
		close(late.block)
		synctest.Wait()
		require.True(t, isClosed(th.informer.Synced()))
	})
}

// Synced must be closed if the first list is empty, if the informer has no handler, or if its handler was removed.
func TestSyncedWithoutHandlers(t *testing.T) {
	withHarness(t, "", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		handler := th.informer.Handle(slow.handler(), nil)
		require.False(t, isClosed(th.informer.Synced()))
		th.run()
		require.True(t, isClosed(handler.Synced()))
		require.True(t, isClosed(th.informer.Synced()))
	})
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		th.run()
		require.True(t, isClosed(th.informer.Synced()))
	})
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		handler := th.informer.Handle(slow.handler(), nil)
		th.run()
		handler.Remove()
		require.True(t, isClosed(th.informer.Synced()), "Synced must be closed if no handler remains")
		close(slow.block)
		synctest.Wait()
		require.True(t, isClosed(handler.Done()))
	})
}

func TestFilterTransitions(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		var n log
		matches := func(o *lw.Object) bool { return strings.Contains("1 3 4", o.GetResourceVersion()) }
		th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Filter: matches})
		th.run()
		require.Equal(t, "+x@1!", n.take())
		th.deliver("~y@3 ~x@4 ~x@5 ~x@6 -x@7 -y@8 +z@9")
		require.Equal(t, "+y@3 ~x@1>4 -x@4 -y@8", n.take(), "a deletion must be reported even if the final state does not match the filter")
	})
}

func TestChanges(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var got []string
		left := make(chan bool)
		go func() {
			defer close(left)
			for c := range th.informer.Changes(t.Context(), nil) {
				got = append(got, fmt.Sprint(c.Type, c.Initial))
				if c.Type == lw.Deleted {
					break
				}
			}
		}()
		th.run()
		th.deliver("~x@3 -x@4 +y@5")
		<-left
		require.Equal(t, []string{"ADDED true", "MODIFIED false", "DELETED false"}, got)
		require.Empty(t, th.informer.handlers)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for c := range th.informer.Changes(ctx, nil) {
			require.Equal(t, "y", c.New.GetName())
		}
		require.Error(t, ctx.Err())
	})
}

func TestWaitSyncedReportsPanicOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := NewInformer(&liveObjects{first: []string{"a@1"}}, plainLists())
		indexThatPanics(informer.Store(), 1)
		require.Panics(t, func() { _ = informer.Run(t.Context()) })
		require.Equal(t, errPanicked, informer.WaitSynced(t.Context()))
	})
}

// WaitSynced must not report the end of a run while a handler is being called.
func TestWaitSyncedWaitsForHandlers(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = th.informer.Run(ctx) }()
		waited := make(chan error, 1)
		go func() { waited <- th.informer.WaitSynced(t.Context()) }()
		synctest.Wait()
		stop()
		synctest.Wait()
		require.Empty(t, waited)
		close(slow.block)
		require.Equal(t, context.Canceled, <-waited)
	})
}

func TestWaitSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &lw.Options{NoStreamingList: true, StopOn: lw.IsPermanent}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		source := &script{t: t, lines: []string{"list@1 !forbidden", "list@1 x@1"}, end: func() { <-ctx.Done() }}
		informer := NewInformer(source, opts)
		slow := &log{block: make(chan struct{})}
		informer.Handle(slow.handler(), nil)
		wait := func(ctx context.Context) <-chan error {
			waited := make(chan error, 1)
			go func() { waited <- informer.WaitSynced(ctx) }()
			synctest.Wait()
			return waited
		}
		canceled, cancel := context.WithCancelCause(t.Context())
		cancel(errWork)
		require.Equal(t, errWork, <-wait(canceled))

		early := wait(t.Context())
		require.Empty(t, early, "WaitSynced may be called before Run")
		require.Equal(t, errs["forbidden"], informer.Run(t.Context()))
		require.Equal(t, errs["forbidden"], <-early)
		require.Equal(t, errs["forbidden"], <-wait(t.Context()), "after Run, WaitSynced must return the error of Run")

		done := make(chan error)
		go func() { done <- informer.Run(ctx) }()
		synctest.Wait()
		again := wait(t.Context())
		require.Empty(t, again, "WaitSynced must wait for the handlers, and must ignore the previous run")
		slow.block <- struct{}{}
		require.NoError(t, <-again)
		stop()
		require.Equal(t, context.Canceled, <-done)
		require.NoError(t, <-wait(canceled), "a synced informer stays synced")
	})
}
