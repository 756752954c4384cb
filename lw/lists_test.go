package lw

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// Outside a streaming list, the initial-events-end bookmark is an ordinary bookmark.
func TestUnexpectedInitialEventsEndIsBookmark(t *testing.T) {
	events, _ := follow(t, nil, answer{body: podList("5", "")}, answer{body: endOfInitial, end: errReset})
	require.Equal(t, []string{"LIST_STARTED @", "SYNCED @5", "WATCH_STARTED @5", "BOOKMARK @9", "INTERRUPTED connection reset @9"}, events)
}

// After a long time without events, the client requests a list of one object to check the resourceVersion. The stream
// does not yield this object.
func TestCheckEmitsNoEvents(t *testing.T) {
	silent := answer{end: errHang}
	answers := []answer{{body: podList("5", "", "a", "b")}, silent, silent, silent, silent, silent}
	events, s := follow(t, plainLists, append(answers, answer{body: podList("5", "more", "a")}, answer{body: podEvent("ADDED", "c", "6"), end: errReset})...)
	checked := slices.Index(s.requests, "/api/v1/pods?limit=1")
	require.Positive(t, checked)
	require.LessOrEqual(t, checked, len(answers))
	for _, event := range events[4:] {
		require.NotContains(t, event, "ADDED a")
	}
}

// The stream has no resourceVersion until the relist is complete.
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
	require.Equal(t, []string{"LIST_STARTED @", "ADDED a @", "ADDED b @", "INTERRUPTED " + invalid.ErrNoProgress.Error() + " @",
		"LIST_STARTED @", "ADDED a @", "SYNCED @5"}, events)
	require.Equal(t, "/api/v1/pods?resourceVersion=0", s.requests[len(answers)])
}

func TestEventTypeString(t *testing.T) {
	require.Equal(t, "LIST_STARTED", ListStarted.String())
	require.Equal(t, "ERROR", errorEvent.String())
	require.Equal(t, "UNKNOWN", EventType(0).String())
	require.Equal(t, "UNKNOWN", EventType(len(eventNames)).String())
}
