package cache

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func memberNames(g *Group) []string {
	var names []string
	for name := range g.States() {
		names = append(names, name)
	}
	return names
}

func TestGroupStartsAddedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a, b, late := newRunner(), newRunner(), newRunner()
		g.Add("a", a)
		ctx, stop := context.WithCancelCause(t.Context())
		finish := make(chan struct{})
		ended := start(ctx, &g, func(ctx context.Context) error {
			<-ctx.Done()
			<-finish
			return nil
		})
		close(a.synced)
		require.NoError(t, g.WaitSynced(ctx))
		g.Add("b", b)
		synctest.Wait()
		require.True(t, b.running)
		waited := make(chan error, 1)
		go func() { waited <- g.WaitSynced(ctx) }()
		synctest.Wait()
		require.Empty(t, waited, "WaitSynced must wait for the added informer")
		close(b.synced)
		require.NoError(t, <-waited)
		require.Equal(t, []string{"a", "b"}, memberNames(&g))
		stop(errWork)
		synctest.Wait()
		g.Add("late", late) // the group is stopping
		close(finish)
		require.Equal(t, errWork, <-ended)
		require.Zero(t, late.runs)
	})
}

func TestAddedInformerStopsGroupWhenItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a := newRunner()
		ended := start(t.Context(), &g)
		g.Add("a", a)
		a.fail <- errWork
		require.EqualError(t, <-ended, "cache: a: the disk is full")
	})
}

// Remove must return only after the informer's Run has returned. The error of that Run must not stop the group.
func TestGroupStopsRemovedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		a, b, second := newRunner(), newRunner(), newRunner()
		b.ending = make(chan struct{})
		close(a.synced)
		g.Add("a", a)
		g.Add("b", b)
		g.Add("b", second)
		worked := false
		early := newRunner()
		g.Add("early", early)
		g.Remove("early") // the group has not run yet
		ctx, stop := context.WithCancel(t.Context())
		ended := start(ctx, &g, func(ctx context.Context) error {
			worked = true
			return untilDone(ctx)
		})
		waited := make(chan error, 1)
		go func() { waited <- g.WaitSynced(t.Context()) }()
		removed := make(chan struct{})
		go func() {
			g.Remove("b")
			close(removed)
		}()
		synctest.Wait()
		require.True(t, b.notified)
		require.False(t, isClosed(removed), "Remove must wait for the informer")
		require.NoError(t, <-waited, "WaitSynced must not wait for a removed informer")
		synctest.Wait()
		require.True(t, worked, "the workers must not wait for a removed informer")
		close(b.ending)
		<-removed
		require.False(t, b.running)
		require.False(t, second.running, "Remove must stop all informers with the name")
		require.True(t, a.running)
		require.Empty(t, ended, "the group must continue")
		require.Equal(t, []string{"a"}, memberNames(&g))
		require.Zero(t, early.runs)
		g.Remove("unknown")
		stop()
		require.Equal(t, context.Canceled, <-ended)
		g.Remove("a")
		require.Empty(t, memberNames(&g))
	})
}

// When Remove returns, none of the informer's handlers may be called anymore. The informer can be added again.
func TestRemovedInformerCallsNoHandler(t *testing.T) {
	withHarness(t, "x@1 y@2", func(t *testing.T, th *harness) {
		var g Group
		slow := &log{block: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		ctx, stop := context.WithCancel(t.Context())
		ended := start(ctx, &g)
		g.Add("pods", th.informer)
		synctest.Wait()
		removed := make(chan struct{})
		go func() {
			g.Remove("pods")
			close(removed)
		}()
		synctest.Wait()
		require.False(t, isClosed(removed))
		close(slow.block)
		<-removed
		require.Equal(t, "+x@1!", slow.take())
		g.Add("pods", th.informer)
		synctest.Wait()
		require.Equal(t, "+y@2!", slow.take())
		stop()
		<-ended
	})
}

func TestGroupMembersChangeConcurrently(t *testing.T) {
	var g Group
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, untilDone) }()
	var changing sync.WaitGroup
	for n := range 20 {
		changing.Go(func() {
			name := strconv.Itoa(n)
			for range 20 {
				informer := NewInformer(&liveObjects{first: []string{"x@1"}}, plainLists())
				g.Add(name, informer)
				if err := informer.WaitSynced(ctx); err != nil {
					t.Error(err)
				}
				_ = maps.Collect(g.States())
				g.Remove(name)
				if informer.running.Load() {
					t.Error("Remove must wait until Run has returned")
				}
			}
		})
	}
	changing.Wait()
	require.Empty(t, slices.Collect(maps.Keys(maps.Collect(g.States()))))
	require.NoError(t, g.WaitSynced(ctx))
	stop()
	require.Equal(t, context.Canceled, <-ended)
}
