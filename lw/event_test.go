package lw

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The phase must follow the events of a stream. Each case lists events and the expected phase after each event.
func TestStateFollowsEvents(t *testing.T) {
	broken, final := &Interruption{Err: errReset}, &Interruption{Err: status(403), Final: true}
	type step struct {
		event  EventType
		reason *Interruption
		phase  Phase
		cause  error
	}
	for name, steps := range map[string][]step{
		"list, watch, outage": {
			{ListStarted, nil, Listing, nil}, {Synced, nil, Listing, nil}, {WatchStarted, nil, Live, nil}, {Interrupted, broken, Stale, errReset},
			{WatchStarted, nil, Live, nil}, {Interrupted, broken, Stale, errReset}, {ListStarted, nil, Stale, errReset}, {Synced, nil, Stale, errReset}, {WatchStarted, nil, Live, nil},
		},
		"failed lists": {
			{Interrupted, broken, Waiting, errReset}, {ListStarted, nil, Listing, errReset}, {Interrupted, broken, Waiting, errReset},
			{ListStarted, nil, Listing, errReset}, {Synced, nil, Listing, errReset}, {Interrupted, broken, Stale, errReset},
		},
		"restored": {
			{ListStarted, nil, Listing, nil}, {Restored, nil, Stale, nil}, {Interrupted, broken, Stale, errReset}, {WatchStarted, nil, Live, nil},
		},
		"stopped": {{Interrupted, final, Stopped, final.Err}},
	} {
		t.Run(name, func(t *testing.T) {
			var s State
			require.Equal(t, Waiting, s.Phase)
			now := time.Unix(1000, 0)
			s = started(s, now)
			since := now
			for i, step := range steps {
				now = now.Add(time.Second)
				if previous := s.Phase; previous != step.phase {
					since = now
				}
				s = s.After(step.event, step.reason, now)
				require.Equal(t, step.phase, s.Phase, "step %d: %v", i, step.event)
				require.Equal(t, step.cause, s.Cause, "step %d: %v", i, step.event)
				require.Equal(t, since, s.Since, "step %d: %v", i, step.event)
			}
			require.Equal(t, Stopped, ended(s, nil, now).Phase)
		})
	}
}

// A second run must continue with the state of the first run. If the first run has completed a list, the second run
// starts stale instead of waiting.
func TestStateOfAnotherRun(t *testing.T) {
	now := time.Unix(1000, 0)
	empty := ended(started(State{}, now), errReset, now.Add(time.Second))
	require.Equal(t, State{Phase: Waiting, Since: now.Add(time.Minute), Cause: errReset}, started(empty, now.Add(time.Minute)))
	full := ended(started(State{}, now).After(ListStarted, nil, now).After(Synced, nil, now).After(WatchStarted, nil, now), nil, now)
	require.Equal(t, Stale, started(full, now).Phase)
}

func TestPhaseString(t *testing.T) {
	var names []string
	for phase := Waiting; phase <= Stopped+1; phase++ {
		names = append(names, phase.String())
	}
	require.Equal(t, []string{"waiting", "listing", "live", "stale", "stopped", "unknown"}, names)
}

// started returns the state at the start of a stream. s is the state at the end of an earlier stream.
func started(s State, now time.Time) State {
	return s.After(Interrupted, &Interruption{Err: s.Cause}, now)
}

// ended returns the state that follows s when the stream ends.
func ended(s State, cause error, now time.Time) State {
	return s.After(Interrupted, &Interruption{Err: cause, Final: true}, now)
}
