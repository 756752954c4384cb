package lw

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHowLongASilenceMayBe, by what is waited for.
func TestHowLongASilenceMayBe(t *testing.T) {
	b := newStreamingRig(t, Options{})
	require.Equal(t, 90*time.Second, b.silence(5*time.Minute, false), "a response")
	b.do(input{signal: watchOpened})
	require.Equal(t, 10*time.Second, b.silence(5*time.Minute, false), "a streaming list")
	b.do(input{signal: watchSynced, version: "7"})
	require.Equal(t, 5*time.Minute+5*time.Second, b.silence(5*time.Minute, false), "a watch without bookmarks")
	require.Equal(t, 150*time.Second, b.silence(5*time.Minute, true), "a watch with bookmarks")
}

// TestAMarkThatNobodyAskedForIsABookmark: a watch that is no streaming list has no list part that could end.
func TestAMarkThatNobodyAskedForIsABookmark(t *testing.T) {
	events, _ := follow(t, nil, answer{body: podList("5", "")}, answer{body: endOfInitial, end: errReset})
	require.Equal(t, []string{"RESET @", "SYNCED @5", "LIVE @5", "BOOKMARK @9", "INTERRUPTED connection reset @9"}, events)
}

// TestALookAtTheVersionTellsNothing: it is a list of one object, and none of the stream.
func TestALookAtTheVersionTellsNothing(t *testing.T) {
	events, s := follow(t, nil, answer{body: podList("5", "", "a", "b")}, answer{end: errHang},
		answer{body: podList("5", "more", "a")}, answer{body: podEvent("ADDED", "c", "6"), end: errReset})
	silent := "INTERRUPTED " + ErrSilent.Error()
	require.Equal(t, []string{
		"RESET @", "ADDED a @", "ADDED b @", "SYNCED @5", "LIVE @5", silent + " @5", "LIVE @5", "ADDED c @6", "INTERRUPTED connection reset @6",
	}, events)
	require.Equal(t, "/api/v1/pods?limit=1", s.asked[2])
}

// TestStreamingRelist: until it is complete nothing has the version of what was there before.
func TestStreamingRelist(t *testing.T) {
	expired, list := answer{body: expiredEvent}, answer{body: podEvent("ADDED", "a", "7") + endOfInitial, end: errReset}
	events, _ := follow(t, &Options{}, list, expired, list)
	require.Equal(t, []string{"RESET @", "ADDED a @", "SYNCED @9", "LIVE @9", "INTERRUPTED connection reset @9"}, events[len(events)-5:])
}

// TestEachListIsCountedAnew, ordinary, broken off or streaming: as many objects as are allowed may come again and again.
func TestEachListIsCountedAnew(t *testing.T) {
	list, expired := answer{body: podList("9", "", "a", "b")}, answer{body: expiredEvent}
	half := answer{body: list.body[:len(list.body)-20], end: errReset}
	streamed := answer{body: podEvent("ADDED", "a", "7") + podEvent("ADDED", "b", "8") + endOfInitial + expiredEvent}
	for _, run := range []struct {
		opts    Options
		answers []answer
	}{
		{Options{MaxObjects: 2, NoStreamingList: true}, []answer{half, list, expired, list, expired, half, list}},
		{Options{MaxObjects: 2}, []answer{streamed, streamed, streamed}},
	} {
		events, _ := follow(t, &run.opts, run.answers...)
		require.Equal(t, 3, strings.Count(strings.Join(events, "\n"), "SYNCED @9"), "%v", events)
	}
}

// TestPagesThatCeaseToBringAnything lead nowhere, also behind some that did.
func TestPagesThatCeaseToBringAnything(t *testing.T) {
	answers := []answer{{body: podList("5", "first", "a", "b")}}
	for n := range mostEmpty {
		answers = append(answers, answer{body: podList("5", "t"+strconv.Itoa(n))})
	}
	events, s := follow(t, nil, append(answers, answer{body: podList("5", "", "a")})...)
	require.Equal(t, []string{"RESET @", "ADDED a @", "ADDED b @", "INTERRUPTED the pages of the list lead nowhere @",
		"RESET @", "ADDED a @", "SYNCED @5"}, events)
	require.Equal(t, "/api/v1/pods?resourceVersion=0", s.asked[len(answers)])
}

func TestNamesOfEventTypes(t *testing.T) {
	require.Equal(t, "RESET", Reset.String())
	require.Equal(t, "ERROR", errorEvent.String())
	require.Equal(t, "UNKNOWN", EventType(0).String())
	require.Equal(t, "UNKNOWN", EventType(len(eventNames)).String())
}
