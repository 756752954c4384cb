package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

func at(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)) }

func canceled(t *testing.T) context.Context {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	return ctx
}

func TestDelayCountsUntilALaterStateIsSeen(t *testing.T) {
	c := newChanges()
	c.wrote("a", at(1))
	c.wrote("b", at(2))
	c.wrote("a", at(3))
	c.wrote("a", at(4))
	c.saw("a", at(0), at(5))
	require.Equal(t, 4, c.unseen(), "receiving an older state must not end a delay")
	c.saw("a", at(3), at(6))
	require.Equal(t, []float64{5000, 3000}, c.seen())
	c.saw("a", at(3), at(7))
	c.saw("a", at(4), at(8))
	require.Equal(t, []float64{5000, 3000, 4000}, c.seen(), "receiving the same state twice must record only one delay")
	require.Error(t, c.drain(canceled(t)))
	c.saw("b", at(2), at(9))
	require.NoError(t, c.drain(canceled(t)))
}

func TestOutagesWithinAPeriod(t *testing.T) {
	var o outages
	o.end(at(0)) // the first watch opens, so no outage ends
	o.begin(at(1))
	o.begin(at(2))
	o.end(at(4))
	o.end(at(5))
	o.begin(at(8))
	n, share := o.within(at(0), at(10))
	require.Equal(t, 2, n)
	require.Equal(t, 0.5, share, "the share must include 3 s of the first outage and 2 s of the current outage")
	n, share = o.within(at(3), at(7))
	require.Zero(t, n)
	require.Equal(t, 0.25, share)
	_, share = o.within(at(0), at(2))
	require.Equal(t, 0.5, share, "the share must include the first second of an outage that ends later")
	_, share = o.within(at(5), at(7))
	require.Zero(t, share)
}

func TestScheduleKeepsItsBounds(t *testing.T) {
	cuts := schedule(rand.New(rand.NewPCG(1, 1)), time.Hour)
	require.Equal(t, cuts, schedule(rand.New(rand.NewPCG(1, 1)), time.Hour), "the same seed must produce the same schedule")
	before := time.Duration(0)
	for _, cut := range cuts {
		require.GreaterOrEqual(t, cut-before, shortest)
		require.LessOrEqual(t, cut-before, longest)
		before = cut
	}
	require.Less(t, time.Hour-before, longest+settle)
}

func TestObserverRecordsWatchEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("reject") {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	var o outages
	client := http.Client{Transport: observer{http.DefaultTransport, &o}}
	get := func(query string) {
		response, err := client.Get(server.URL + query)
		require.NoError(t, err)
		_, err = io.ReadAll(response.Body)
		require.NoError(t, err)
		_ = response.Body.Close()
	}
	get("?limit=1")
	require.Empty(t, o.all, "the end of a list must not begin an outage")
	get("?watch=true")
	require.Len(t, o.all, 1)
	get("?watch=true&reject")
	require.True(t, o.all[0].to.IsZero(), "a rejected watch must not end an outage")
	get("?watch=true")
	require.Len(t, o.all, 2)
	require.False(t, o.all[0].to.IsZero())
}

func TestLwcatRecovers(t *testing.T) {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	defer server.Close()
	for i := range objects {
		require.NoError(t, write(server, nameOf(i), time.Now()))
	}
	program, err := buildLwcat(t.Context(), t.TempDir())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	c, began := newClient(lwcatName), time.Now()
	require.NoError(t, c.startLwcat(ctx, program, server.URL, &running))
	for resets := 1; resets <= 2; resets++ {
		server.DropConnections()
		require.Eventually(t, func() bool { n, ends := c.outages.count(); return n == resets && ends == resets }, maxWait, time.Millisecond)
		now := time.Now()
		c.changes.wrote(nameOf(1), now)
		require.NoError(t, write(server, nameOf(1), now))
		require.NoError(t, c.changes.drain(ctx))
	}
	ends, stale := c.outages.within(began, time.Now())
	require.Equal(t, 2, ends)
	require.Positive(t, stale)
	require.Len(t, c.changes.seen(), 2)
}

// count returns the number of all outages and the number of ended outages.
func (o *outages) count() (n, ended int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.all {
		if !one.to.IsZero() {
			ended++
		}
	}
	return len(o.all), ended
}
