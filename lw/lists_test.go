package lw

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Outside a streaming list, the initial-events-end bookmark is an ordinary bookmark.
func TestUnexpectedInitialEventsEndIsBookmark(t *testing.T) {
	events, _ := follow(t, nil, answer{body: podList("5", "")}, answer{body: endOfInitial, end: errReset})
	require.Equal(t, []string{"LIST_STARTED @", "SYNCED @5", "WATCH_STARTED @5", "BOOKMARK @9", "INTERRUPTED connection reset @9"}, events)
}

// Before the stream resumes after a broken connection, it requests a list of one object. It does not yield this object.
func TestCheckEmitsNoEvents(t *testing.T) {
	events, s := follow(t, nil, answer{body: podList("5", "", "a", "b")}, answer{end: errReset}, answer{body: podEvent("ADDED", "c", "6"), end: errReset})
	require.Equal(t, []string{
		"LIST_STARTED @", "ADDED a @", "ADDED b @", "SYNCED @5", "WATCH_STARTED @5", "INTERRUPTED connection reset @5",
		"WATCH_STARTED @5", "ADDED c @6", "INTERRUPTED connection reset @6",
	}, events)
	require.Equal(t, 2, s.checked)
}

// Until the relist is complete, the stream must not report a resourceVersion from which it could resume.
func TestStreamingRelist(t *testing.T) {
	expired, list := answer{body: expiredEvent}, answer{body: podEvent("ADDED", "a", "7") + endOfInitial, end: errReset}
	events, _ := follow(t, &Options{}, list, expired, list)
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "SYNCED @9", "WATCH_STARTED @9", "INTERRUPTED connection reset @9"}, events[len(events)-5:])
}

func TestEmptyPagesAfterObjectsNeedBudget(t *testing.T) {
	answers := []answer{{body: podList("5", "first", "a", "b")}}
	for n := range requestBurst - 1 {
		answers = append(answers, answer{body: podList("5", "t"+strconv.Itoa(n))})
	}
	events, s := follow(t, nil, append(answers, answer{body: podList("5", "", "a")})...)
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "INTERRUPTED " + errNoProgress.Error() + " @",
		"LIST_STARTED @", "ADDED a @", "SYNCED @5"}, events)
	require.Equal(t, "/api/v1/pods?resourceVersion=0", s.requests[len(answers)])
}

func TestEventTypeString(t *testing.T) {
	require.Equal(t, "LIST_STARTED", ListStarted.String())
	require.Equal(t, "ERROR", errorEvent.String())
	require.Equal(t, "UNKNOWN", EventType(0).String())
	require.Equal(t, "UNKNOWN", EventType(len(eventNames)).String())
}

func TestEachObjectOfAFailedListIsChargedOnce(t *testing.T) {
	for name, second := range map[string]string{"repeated object": podList("5", "", "a"), "inconsistent page": podList("6", "", "c")} {
		t.Run(name, func(t *testing.T) {
			s := &scriptedTransport{answers: []answer{{body: podList("5", "next", "a", "b")}, {body: second}}}
			client, opts := s.client(t, Pods("")), &Options{PageSize: 4, NoStreamingList: true}
			e := engine[*Object]{
				ctx: t.Context(), source: client, opts: opts, trace: new(Trace), machine: newMachine(opts, "", false, client.Source().support()),
				yield: func(event Event[*Object]) bool { return event.Type != Interrupted },
			}
			require.True(t, e.request())
			require.False(t, e.request())
			require.Equal(t, 3, e.machine.policy.small)
		})
	}
}
