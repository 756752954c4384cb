package measure

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// A trace may be reused for a second stream. The trace must then report the phase "stale" until the second stream's
// watch starts, even while the first request of this stream hangs.
func TestStateOfReusedTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := NewState()
		after := func(phase lw.Phase, call func()) {
			t.Helper()
			time.Sleep(time.Second)
			call()
			require.Equal(t, phase, state.Load().Phase)
			require.Equal(t, time.Now(), state.Load().Since)
		}
		event := func(of lw.EventType) func() { return func() { state.Event(lw.Event[lw.Keyed]{Type: of}) } }
		require.Equal(t, lw.State{Phase: lw.Waiting, Since: time.Now()}, state.Load())
		created := time.Now()
		time.Sleep(time.Second)
		state.Begin()
		require.Equal(t, lw.State{Phase: lw.Waiting, Since: created}, state.Load(), "a request of the first stream must not change the state")
		after(lw.Listing, event(lw.ListStarted))
		event(lw.Synced)()
		after(lw.Live, event(lw.WatchStarted))
		after(lw.Stopped, state.End)
		after(lw.Stale, state.Begin)
		after(lw.Live, event(lw.WatchStarted))
		after(lw.Stopped, state.End)
		after(lw.Stale, event(lw.Restored))
	})
}

func TestPhasesAreComplete(t *testing.T) {
	for number, phase := range Phases() {
		require.EqualValues(t, number, phase)
	}
	require.Equal(t, "unknown", lw.Phase(len(Phases())).String())
}
