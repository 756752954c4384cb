package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// fakeRunner acts as an informer. Run blocks until ctx is done or the test sends an error to the channel fail.
type fakeRunner struct {
	synced   chan struct{}
	fail     chan error
	runs     int
	running  bool
	notified bool          // Run has noticed that ctx is done
	ending   chan struct{} // if not nil, Run does not return before this channel is closed
}

func newRunner() *fakeRunner { return &fakeRunner{synced: make(chan struct{}), fail: make(chan error)} }

func (r *fakeRunner) Synced() <-chan struct{} { return r.synced }

func (r *fakeRunner) State() lw.State { return lw.State{} }

func (r *fakeRunner) Run(ctx context.Context) error {
	r.runs++
	r.running = true
	defer func() { r.running = false }()
	select {
	case err := <-r.fail:
		return err
	case <-ctx.Done():
		r.notified = true
		if r.ending != nil {
			<-r.ending
		}
		return context.Cause(ctx)
	}
}

// start runs a group in a goroutine and returns the channel that receives its error.
func start(ctx context.Context, g *Group, workers ...func(context.Context) error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, workers...) }()
	synctest.Wait()
	return ended
}

var errWork = errors.New("the disk is full")

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestGroupStartsWorkersWhenAllAreSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a, b := newRunner(), newRunner()
		g.Add("a", a)
		g.Add("b", b)
		ctx, stop := context.WithCancelCause(t.Context())
		working := 0
		work := func(ctx context.Context) error {
			working++
			return untilDone(ctx)
		}
		waited := make(chan error, 1)
		go func() { waited <- g.WaitSynced(ctx) }() // WaitSynced may be called before Run
		ended := start(ctx, &g, work)
		close(a.synced)
		synctest.Wait()
		require.Zero(t, working, "workers must not start before b is synced")
		require.Empty(t, waited)
		close(b.synced)
		synctest.Wait()
		require.Equal(t, 1, working)
		require.NoError(t, <-waited)
		stop(errWork)
		require.Equal(t, errWork, <-ended)
		for range 20 { // repeated, because select chooses a ready case at random
			require.NoError(t, g.WaitSynced(ctx), "WaitSynced must succeed if all informers are synced, even after Run")
		}
	})
}

// Workers must return before the streams end, and streams must end before Run returns.
func TestGroupStopsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		close(a.synced)
		a.ending = make(chan struct{})
		g.Add("a", a)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		finish := make(chan struct{})
		ended := start(ctx, &g, func(ctx context.Context) error {
			<-ctx.Done()
			<-finish
			require.False(t, a.notified, "the stream must not end before the worker returns")
			return nil
		})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.False(t, a.notified, "the stream must not end before the worker returns")
		close(finish)
		synctest.Wait()
		require.Empty(t, ended, "Run must wait for informer a")
		close(a.ending)
		require.Equal(t, context.DeadlineExceeded, <-ended)
		require.False(t, a.running)
	})
}

func TestGroupStopsWhenAWorkerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		close(a.synced)
		g.Add("a", a)
		done := func(context.Context) error { return nil } // a worker that returns nil does not stop the group
		fail := make(chan error)
		ended := start(t.Context(), &g, untilDone, done, func(context.Context) error { return <-fail })
		require.True(t, a.running)
		fail <- errWork
		require.Equal(t, errWork, <-ended)
		require.False(t, a.running)
	})
}

// The Secrets informer receives a 403 response before its first list is complete, so the group must stop.
func TestGroupStopsWhenInformerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		opts := &lw.Options{NoStreamingList: true, StopOn: lw.IsPermanent}
		pods := NewInformer(&liveObjects{first: []string{"x@1"}}, opts)
		secrets := NewInformer(&script{t: t, lines: []string{"list@1 !forbidden"}}, opts)
		g.Add("pods", pods)
		g.Add("secrets", secrets)
		waited := make(chan error, 1)
		go func() { waited <- g.WaitSynced(t.Context()) }()
		worked := false
		err := g.Run(t.Context(), func(context.Context) error { worked = true; return nil })
		require.EqualError(t, err, "cache: secrets: "+errs["forbidden"].Error())
		require.ErrorIs(t, err, lw.ErrForbidden)
		require.Equal(t, err, <-waited)
		require.Equal(t, err, g.WaitSynced(t.Context()), "after Run, WaitSynced must return the same error")
		require.False(t, worked)
	})
}

func TestGroupStopsWhenInformerFailsAfterSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a, b := newRunner(), newRunner()
		close(a.synced)
		close(b.synced)
		g.Add("a", a)
		g.Add("b", b)
		ended := start(t.Context(), &g, untilDone)
		b.fail <- errWork
		require.EqualError(t, <-ended, "cache: b: the disk is full")
		require.False(t, a.running)
		require.NoError(t, g.WaitSynced(t.Context()))
	})
}

// A member's Run must not return nil. If it does, the group must stop with an error that names the member.
func TestGroupReportsMemberThatReturnsNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		g.Add("a", a)
		ended := start(t.Context(), &g)
		a.fail <- nil
		require.EqualError(t, <-ended, "cache: a: Run returned nil before its context was done")
	})
}

func TestGroupIsCanceledBeforeSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		g.Add("a", a)
		ctx, stop := context.WithCancelCause(t.Context())
		worked := false
		ended := start(ctx, &g, func(context.Context) error { worked = true; return nil })
		waited, impatient := make(chan error, 1), make(chan error, 1)
		go func() { waited <- g.WaitSynced(t.Context()) }()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { impatient <- g.WaitSynced(short) }()
		require.Equal(t, context.DeadlineExceeded, <-impatient)
		require.Empty(t, waited)
		stop(errWork)
		require.Equal(t, errWork, <-ended)
		require.Equal(t, errWork, <-waited)
		require.False(t, worked)

		require.Equal(t, errWork, g.Run(ctx), "Run must return the cause if ctx is already canceled")
		require.Equal(t, 1, a.runs, "the informer must not start")
		close(a.synced)
		require.Equal(t, errWork, g.Run(ctx, func(context.Context) error { worked = true; return nil }))
		require.False(t, worked, "the worker must not run")
	})
}

// Handlers are not called between two runs, and the second run resumes from the stores.
func TestGroupRunsAgain(t *testing.T) {
	withHarness(t, "x@1", func(t *testing.T, th *harness) {
		var g Group
		var n log
		th.informer.Handle(n.handler(), nil)
		g.Add("pods", th.informer)
		ctx, lose := context.WithCancel(t.Context())
		ended := start(ctx, &g)
		require.NoError(t, g.WaitSynced(t.Context()))
		require.Equal(t, "+x@1!", n.take())
		lose()
		require.Equal(t, context.Canceled, <-ended)

		synctest.Wait()
		require.Empty(t, n.take(), "no handler may be called between two runs")
		ctx, lose = context.WithCancel(t.Context())
		ended = start(ctx, &g)
		th.deliver("~x@3")
		require.Equal(t, "~x@1>3", n.take())
		lose()
		<-ended
	})
}

func TestGroupWaitsForCallInProgress(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		var g Group
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		g.Add("pods", th.informer)
		ctx, lose := context.WithCancel(t.Context())
		ended := start(ctx, &g)
		lose()
		synctest.Wait()
		require.Empty(t, ended)
		close(slow.block)
		<-ended
		require.Equal(t, "+x@1!", slow.take())
		synctest.Wait()
		require.Empty(t, slow.take(), "the next run must deliver y")
	})
}

// The result of the first Run must not affect a call of WaitSynced during the second Run.
func TestWaitSyncedIgnoresPreviousRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		g.Add("a", a)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.Equal(t, context.Canceled, g.Run(ctx))
		require.Equal(t, context.Canceled, g.WaitSynced(t.Context()))
		ctx, stop = context.WithCancel(t.Context())
		ended := start(ctx, &g)
		waited := make(chan error, 1)
		go func() { waited <- g.WaitSynced(t.Context()) }()
		synctest.Wait()
		require.Empty(t, waited)
		close(a.synced)
		require.NoError(t, <-waited)
		stop()
		<-ended
	})
}

func TestGroupMisuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		g.Add("a", a)
		ctx, stop := context.WithCancel(t.Context())
		ended := start(ctx, &g)
		require.PanicsWithValue(t, "cache: Group.Run called before the previous Run returned", func() { _ = g.Run(ctx) })
		require.True(t, a.running, "misuse must not stop the group")
		stop()
		<-ended
		g.Add("b", newRunner()) // Add may be called between two runs
		require.Len(t, g.members, 2)
	})
}

func TestEmptyGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		require.NoError(t, g.WaitSynced(t.Context()))
		require.Equal(t, errWork, g.Run(t.Context(), func(context.Context) error { return errWork }))
	})
}

// The contexts of the streams are canceled later than ctx, but must still have the trace of ctx.
func TestGroupKeepsContextValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		var seen error
		g.Add("pods", NewInformer(&script{t: t, lines: []string{"list@1 !forbidden"}}, &lw.Options{NoStreamingList: true, StopOn: lw.IsPermanent}))
		trace := &lw.Trace{Event: func(event lw.Event[lw.Keyed]) {
			if event.Type == lw.Interrupted {
				seen = event.Interruption.Err
			}
		}}
		require.ErrorIs(t, g.Run(lw.WithTrace(t.Context(), trace)), lw.ErrForbidden)
		require.ErrorIs(t, seen, lw.ErrForbidden)
	})
}

func TestGroupUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		for range 10 {
			a := newRunner()
			g.Add("a", a)
			time.AfterFunc(time.Second, func() { close(a.synced) })
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { require.NoError(t, g.WaitSynced(ctx)) })
		}
		require.Equal(t, context.DeadlineExceeded, g.Run(ctx, untilDone, untilDone))
		group.Wait()
	})
}
