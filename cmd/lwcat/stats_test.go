package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// TestRatesAreShownOnTerminals checks that the status line appears once a second, and only on a terminal.
func TestRatesAreShownOnTerminals(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var out lockedBuffer
			status, stats := &status{out: &out, terminal: terminal}, newStats()
			m := &meter{stats: stats, resource: "pods"}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				status.showRates(ctx, stats)
				close(done)
			}()
			time.Sleep(900 * time.Millisecond)
			require.Empty(t, out.String())
			m.lastRead = time.Now()
			m.printed(500, true)
			m.update(func() { m.metrics.Relists++ })
			time.Sleep(time.Second)
			cancel()
			<-done
			want := ""
			if terminal {
				want = erase + "500 events, 500/s, 0 B/s, max lag 0.0 ms, 1 relist, 0 interruptions, pods 30000.0/min" + erase
			}
			require.Equal(t, want, out.String())
		})
	}
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stats := newStats()
		m := &meter{stats: stats, resource: "pods"}
		trace := new(lw.Trace)
		m.addTo(trace)
		for range 2 {
			trace.Read(3000)
			trace.Frame(lw.Modified, 2500)
			trace.Frame(lw.Bookmark, 100)
			time.Sleep(time.Second)
			m.decoded(lw.Modified)
			time.Sleep(2 * time.Second)
			m.printed(1, true)
		}
		m.resource = "nodes"
		m.printed(0, true)
		var f metrics
		require.NoError(t, json.Unmarshal(encode(stats.snapshot()), &f))
		require.Equal(t, metrics{
			Seconds: 6, Events: 2, Objects: 2, Bytes: 6000,
			DecodeSeconds: 2, MeanLagSeconds: 3, MaxLagSeconds: 3,
			ChangesPerMinute: map[string]float64{"pods": 20, "nodes": 0},
		}, f)
		line := f.rates(metrics{Seconds: 5, Events: 1, Bytes: 2000})
		require.True(t, strings.HasPrefix(line, "2 events, 1/s, 4 kB/s, max lag 3000.0 ms"), line)
		require.True(t, strings.HasSuffix(line, ", nodes 0.0/min, pods 20.0/min"), line)
	})
}

// TestDecodeTimeExcludesWaiting checks that neither idle time before an interruption nor time spent waiting for the
// first byte counts as decoding.
func TestDecodeTimeExcludesWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meter{stats: newStats()}
		trace := &lw.Trace{}
		m.addTo(trace)
		time.Sleep(time.Hour)
		m.decoded(lw.ListStarted)
		trace.Read(100)
		time.Sleep(time.Second)
		m.decoded(lw.Added)
		time.Sleep(time.Second) // simulates the time to print the event
		m.printed(1, false)
		time.Sleep(time.Second)
		m.decoded(lw.Modified)
		time.Sleep(time.Hour)
		m.decoded(lw.Interrupted)
		time.Sleep(time.Hour)
		trace.Read(100)
		time.Sleep(time.Second)
		m.decoded(lw.Bookmark)
		require.Equal(t, 3.0, m.snapshot().DecodeSeconds)
	})
}
